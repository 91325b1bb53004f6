#include "base/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/cache_label.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using tests::thrown_sentence;

constexpr std::uint64_t kBytes = (4 << 20) + 1234;  // the last page is not full

double resident_share(const Residency& r) {
    return static_cast<double>(r.resident) / static_cast<double>(r.bytes);
}

// Reads `bytes` from the beginning, page by page and without read-ahead.
void read_some(const fs::path& file, std::uint64_t bytes) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    std::vector<char> page(4096);
    for (std::uint64_t at = 0; at < bytes; at += page.size())
        ASSERT_GT(::pread(fd, page.data(), page.size(), static_cast<off_t>(at)), 0);
    ::close(fd);
}

// Tests that need a page cache in front of a device. A temporary folder may be in memory.
class ResidencyOnDisk : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto here = base::file_system_at(folder_.path());
        if (here.kind != base::FileSystemKind::disk)
            GTEST_SKIP() << "the temporary folder lies on " << here.name
                         << ": set TMPDIR to a disk";
        file_ = folder_.write("data", std::string(kBytes, 'x'));
        const auto residency = residency_of(file_);
        if (!residency) GTEST_SKIP() << "this kernel does not tell residency";
    }

    CacheEvidence read_and_observe(const fs::path& file, std::uint64_t bytes) {
        CacheEvidence e{base::file_system_at(folder_.path()), bytes, residency_of(file),
                        std::nullopt};
        const auto before = delivered_bytes();
        read_some(file, bytes);
        const auto after = delivered_bytes();
        if (before && after) e.delivered = *after - *before;
        return e;
    }

    tests::TempFolder folder_;
    fs::path file_;
};

TEST_F(ResidencyOnDisk, WhatWasJustWrittenIsResident) {
    const auto residency = residency_of(file_).value_or(Residency{});
    EXPECT_EQ(residency.bytes, kBytes);
    EXPECT_EQ(residency.resident, kBytes);
    EXPECT_EQ(label_of(read_and_observe(file_, kBytes)).text, "warm");
}

TEST_F(ResidencyOnDisk, EvictedIsColdAndReadAgainIsWarm) {
    evict(file_);
    EXPECT_LE(resident_share(residency_of(file_).value_or(Residency{1, 1})), kColdShare);
    if (!delivered_bytes())
        GTEST_SKIP() << "this kernel does not count what the block layer delivers";
    const auto cold = label_of(read_and_observe(file_, kBytes));
    EXPECT_EQ(cold.text, "cold") << cold.why;
    const auto warm = label_of(read_and_observe(file_, kBytes));
    EXPECT_EQ(warm.text, "warm") << warm.why;
}

TEST_F(ResidencyOnDisk, ReadToAPartIsMixed) {
    evict(file_);
    read_some(file_, kBytes / 2);
    const double share = resident_share(residency_of(file_).value_or(Residency{1, 0}));
    EXPECT_GE(share, 0.49);
    EXPECT_LE(share, 0.80);  // the kernel reads ahead
    const auto label = label_of(read_and_observe(file_, kBytes));
    EXPECT_EQ(label.state, CacheState::mixed) << label.why;
    EXPECT_EQ(label.text, "mixed " + std::to_string(static_cast<int>(share * 100 + 0.5)) + " %");
}

TEST_F(ResidencyOnDisk, ManyFilesAddUp) {
    const auto other = folder_.write("other", std::string(kBytes, 'y'));
    evict(other);
    Residency sum;
    for (const auto& file : {file_, other}) sum += residency_of(file).value_or(Residency{});
    EXPECT_EQ(sum.bytes, 2 * kBytes);
    EXPECT_NEAR(resident_share(sum), 0.5, 0.01);
}

// Pages that a process has mapped stay in the cache, and residency_of() shows it.
TEST_F(ResidencyOnDisk, EvictionIsMeasuredNotBelieved) {
    const int fd = ::open(file_.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    void* map = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    ASSERT_NE(map, MAP_FAILED);
    evict(file_);
    EXPECT_GE(resident_share(residency_of(file_).value_or(Residency{1, 0})), 0.9);
    ::munmap(map, kBytes);
    ::close(fd);
}

// To a process that may not write the file, mincore reports every page as resident.
TEST_F(ResidencyOnDisk, MincoreIsNotAskedWhereItDoesNotTellTheTruth) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
    fs::permissions(folder_.path(), fs::perms(0755));
    fs::permissions(file_, fs::perms(0644));
    evict(file_);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
        ::_exit(residency_of(file_) ? 3 : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "3: mincore was believed";
}

TEST_F(ResidencyOnDisk, AnEmptyFileHasNothing) {
    const auto empty = folder_.write("empty", "");
    const auto residency = residency_of(empty);
    ASSERT_TRUE(residency);
    EXPECT_EQ(residency->bytes, 0U);
    EXPECT_EQ(residency->resident, 0U);
    evict(empty);
}

TEST(Residency, InMemoryIsNeverCold) {
    std::string name = "/dev/shm/ranklab-test-XXXXXX";
    const int fd = ::mkstemp(name.data());
    if (fd < 0) GTEST_SKIP() << "there is no /dev/shm here";
    const std::string bytes(kBytes, 'x');
    EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(fd);
    evict(name);
    const CacheEvidence e{base::file_system_at(name), kBytes, residency_of(name), 0};
    EXPECT_EQ(label_of(e).text, "memory (tmpfs)");
    if (e.before) {
        EXPECT_EQ(e.before->resident, kBytes);
    }
    ::unlink(name.c_str());
}

TEST(Residency, AMissingFileIsSaid) {
    const tests::TempFolder folder;
    const auto missing = folder / "missing";
    for (const auto& said :
         {thrown_sentence<base::EnvironmentError>([&] { residency_of(missing); }),
          thrown_sentence<base::EnvironmentError>([&] { evict(missing); })}) {
        EXPECT_THAT(said, HasSubstr(missing.string()));
        EXPECT_THAT(said, HasSubstr("--directory"));
    }
}

}  // namespace
}  // namespace ranklab::io
