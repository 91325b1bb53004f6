#include "base/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "temp_folder.hpp"

namespace ranklab::base {
namespace {

Descriptor made(const std::filesystem::path& path) {
    return Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
}

std::vector<double> numbers(std::size_t count) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 0.5);
    return values;
}

TEST(WholeIo, ComesBackFromItsPlaceInAFile) {
    const tests::TempFolder folder;
    const auto file = made(folder / "x");
    const auto values = numbers(1000);
    ASSERT_TRUE(write_whole(file.get(), std::string("head")));
    ASSERT_TRUE(write_whole(file.get(), values, 100));
    std::vector<double> back(values.size());
    EXPECT_EQ(read_whole(file.get(), back, 100), 8000U);
    EXPECT_EQ(back, values);
    EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 4) << "a place moves nothing";
}

TEST(WholeIo, AFileThatEndsGivesWhatItHas) {
    const tests::TempFolder folder;
    const auto file = made(folder / "x");
    ASSERT_TRUE(write_whole(file.get(), std::string("four")));
    std::array<char, 10> back{};
    EXPECT_EQ(read_whole(file.get(), back, 1), 3U);
    EXPECT_EQ(std::string(back.data(), 3), "our");
    EXPECT_EQ(read_whole(file.get(), back), 0U) << "it stands at the end";
}

// A pipe takes 64 KiB at once at most, and gives what has come so far.
TEST(WholeIo, GoesOnAfterAPart) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const Descriptor out(ends[0]);
    Descriptor in(ends[1]);
    const auto values = numbers(100000);
    bool written = false;
    std::thread writer([&] {
        written = write_whole(in.get(), values);
        in.reset();
    });
    std::vector<double> back(values.size() + 1);
    const auto got = read_whole(out.get(), back);
    writer.join();
    EXPECT_TRUE(written);
    EXPECT_EQ(got, values.size() * sizeof(double));
    back.pop_back();
    EXPECT_EQ(back, values);
}

TEST(WholeIo, ARefusalLeavesItsReason) {
    std::array<char, 4> bytes{};
    errno = 0;
    EXPECT_FALSE(write_whole(-1, bytes));
    EXPECT_EQ(errno, EBADF);
    errno = 0;
    EXPECT_FALSE(read_whole(-1, bytes, 0));
    EXPECT_EQ(errno, EBADF);
    EXPECT_TRUE(write_whole(-1, std::string())) << "nothing to write cannot fail";
}

}  // namespace
}  // namespace ranklab::base
