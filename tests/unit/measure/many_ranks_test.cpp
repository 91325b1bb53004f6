// Gathers of 10,000 ranks: right, in bounded pieces, and rows x ranks in no memory where they are folded.
#include <gtest/gtest.h>

#include "many_ranks.hpp"
#include "measure/series.hpp"

namespace ranklab::measure {
namespace {

using ranklab::testing::ManyRanks;

constexpr int kRanks = 10000;
constexpr std::size_t kPiece = std::size_t{1} << 18U;  // bytes

// Row r has r, 100 r, ... in its columns.
Spool rows_of(std::size_t rows, std::size_t columns) {
    Spool spool(columns);
    std::vector<double> row(columns);
    for (std::size_t r = 0; r < rows; ++r) {
        double factor = 1;
        for (double& value : row) {
            value = factor * static_cast<double>(r);
            factor *= 100;
        }
        spool.push(row);
    }
    return spool;
}

TEST(TenThousandRanks, AreGatheredInPiecesOfARow) {
    ManyRanks job(kRanks, ManyRanks::add_rank);
    const auto all = gather_spools(job, rows_of(40, 3));
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(job.calls, 40U);
    EXPECT_EQ(job.largest, std::size_t{3} * kRanks * sizeof(double)) << "a row of all columns and ranks";
    EXPECT_EQ(job.bytes, 40 * job.largest);
    const auto& second = all[1];
    EXPECT_FALSE(second.is_short());
    std::size_t wrong = 0;
    second.visit(0, [&](std::span<const double> piece, std::size_t row) {
        for (std::size_t i = 0; i < piece.size(); ++i)
            wrong += piece[i] == 100 * static_cast<double>(row + i / kRanks) + static_cast<double>(i % kRanks)
                         ? 0
                         : 1;
    });
    EXPECT_EQ(wrong, 0U);
    // What is in memory of it; the rest is in a temporary file.
    EXPECT_LE(second.spool()->held_rows() * kRanks, kMostHeldValues);
}

TEST(TenThousandRanks, KeepALongSeriesOnRankZeroAlone) {
    ManyRanks job(kRanks, ManyRanks::add_rank, 77);
    const auto all = gather_spools(job, rows_of(40, 1));
    EXPECT_FALSE(all.front().here());
    EXPECT_EQ(all.front().rows(), 40U);
}

TEST(TenThousandRanks, AreFoldedToTheirMaxima) {
    ManyRanks job(kRanks, ManyRanks::add_rank);
    const std::size_t rows = 50;
    const auto largest = gather_largest(job, rows_of(rows, 3));
    ASSERT_EQ(largest.size(), 3U);
    EXPECT_EQ(job.calls, 1U);
    EXPECT_EQ(job.bytes, rows * 3 * sizeof(double)) << "what one rank has, however many there are";
    for (const auto& one : largest) EXPECT_EQ(one.ranks(), 1U);
    EXPECT_EQ(largest[1].head(7, 2).values, (std::vector<double>{700 + kRanks - 1, 800 + kRanks - 1}));
}

TEST(FewRanks, AreFoldedInPieces) {
    ManyRanks job(3, ManyRanks::add_rank);
    const std::size_t rows = 3 * kMostHeldValues;
    const auto largest = gather_largest(job, rows_of(rows, 1)).front();
    EXPECT_EQ(job.largest, kPiece);
    EXPECT_EQ(job.bytes, rows * sizeof(double));
    EXPECT_FALSE(largest.is_short());
    EXPECT_EQ(largest.head(rows - 1, 5).values, (std::vector<double>{static_cast<double>(rows - 1) + 2}));
}

TEST(Series, SomeRowsAreSpreadOverAll) {
    const auto all = columns_of(rows_of(100, 2), 0, 2);
    EXPECT_EQ(all.spread(20, 4).values, (std::vector<double>{30, 3000, 50, 5000, 70, 7000, 90, 9000}));
    EXPECT_EQ(all.spread(98, 4).values, all.head(98, 4).values);
    EXPECT_EQ(all.spread(0, 100).values, all.head(0, 100).values);
    const auto longer = columns_of(rows_of(3 * kPiece, 1), 0, 1);
    const auto some = longer.spread(0, 1000).values;
    ASSERT_EQ(some.size(), 1000U);
    EXPECT_GT(some.back(), 3 * kPiece - 3 * kPiece / 1000.0);
}

TEST(TenThousandRanks, AreAddedUpInTheirOrder) {
    ManyRanks job(kRanks, ManyRanks::add_rank);
    const auto sums = gather_sums(job, rows_of(20, 2), 1);
    EXPECT_EQ(sums.ranks(), 1U);
    EXPECT_LE(job.largest, kPiece);
    const double of_ranks = kRanks * (kRanks - 1.0) / 2;
    EXPECT_EQ(sums.head(3, 1).values, (std::vector<double>{kRanks * 300.0 + of_ranks}));
    EXPECT_EQ(sums.rows(), 20U);
}

TEST(OwnSums, AreOfTheRowsThatCount) {
    EXPECT_EQ(own_sums(rows_of(5, 2), 2), (std::vector<double>{9, 900}));
    EXPECT_EQ(own_sums(rows_of(5, 2), 5), (std::vector<double>{0, 0}));
    EXPECT_EQ(own_sums(rows_of(0, 2), 0), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace ranklab::measure
