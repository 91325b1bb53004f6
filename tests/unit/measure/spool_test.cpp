#include "measure/spool.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "temp_folder.hpp"

namespace ranklab::measure {
namespace {

constexpr std::size_t kBlock = 32768;  // values

Spool filled(std::size_t rows, std::size_t columns, std::size_t most_held, const std::string& folder = "") {
    Spool spool(columns, most_held, folder);
    std::vector<double> row(columns);
    for (std::size_t r = 0; r < rows; ++r) {
        std::iota(row.begin(), row.end(), static_cast<double>(r * columns));
        spool.push(row);
    }
    return spool;
}

void expect_counting(const Spool& spool, std::size_t first, std::size_t rows) {
    std::vector<double> got(rows * spool.columns());
    spool.read(first, got);
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], static_cast<double>(first * spool.columns() + i)) << "value " << i;
}

TEST(Spool, ShortOnesStayInMemory) {
    const Spool spool = filled(100, 3, kMostHeldValues);
    EXPECT_EQ(spool.rows(), 100U);
    EXPECT_EQ(spool.held_rows(), 100U);
    expect_counting(spool, 0, 100);
    expect_counting(spool, 37, 5);
}

// Three columns: blocks of 10,922 rows, of which four may stay.
TEST(Spool, LongOnesGoToAFileAndComeBack) {
    const Spool spool = filled(200000, 3, 4 * kBlock);
    EXPECT_EQ(spool.rows(), 200000U);
    EXPECT_LE(spool.held_rows() * 3, 4 * kBlock);
    EXPECT_EQ(spool.trouble(), "");
    expect_counting(spool, 0, 200000);
    expect_counting(spool, 10921, 2);               // over the edge of two blocks
    expect_counting(spool, 200000 - 40000, 40000);  // from the file into memory
}

TEST(Spool, TheLastRowMayBeAmendedAlsoAtABlocksEnd) {
    Spool spool = filled(2 * kBlock, 1, kBlock);
    spool.amend(0, -1);
    spool.push(std::vector<double>{7});
    std::vector<double> last(2);
    spool.read(spool.rows() - 2, last);
    EXPECT_EQ(last, (std::vector<double>{-1, 7}));
}

TEST(Spool, TheFileHasNoName) {
    const tests::TempFolder folder;
    const Spool spool = filled(3 * kBlock, 1, kBlock, folder.path().string());
    EXPECT_LT(spool.held_rows(), spool.rows()) << "there is a file";
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Spool, WhereThereIsNoFileNothingIsLost) {
    const Spool spool = filled(4 * kBlock, 1, kBlock, "no/such/folder");
    EXPECT_NE(spool.trouble().find("no/such/folder"), std::string::npos) << spool.trouble();
    EXPECT_EQ(spool.held_rows(), spool.rows());
    expect_counting(spool, 0, 4 * kBlock);
}

TEST(Spool, RefusesWhatIsNotItsShape) {
    Spool spool(2);
    EXPECT_ANY_THROW(spool.push(std::vector<double>{1}));
    std::vector<double> row(2);
    EXPECT_ANY_THROW(spool.read(0, row)) << "there is no row yet";
    EXPECT_ANY_THROW(Spool(0));
}

}  // namespace
}  // namespace ranklab::measure
