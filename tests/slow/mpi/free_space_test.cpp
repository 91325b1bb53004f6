// Room for the shared file is made sure of before HDF5 writes, which does not survive a full disk.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/error.hpp"
#include "base/pinned.hpp"
#include "io/free_space.hpp"
#include "io/strategy.hpp"
#include "mpi/shared_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;
using tests::TempFolder;
using tests::thrown_sentence;

namespace testing = ranklab::testing;

/// A limit to the size of files, for a scope.
class FileLimit : base::Pinned {
  public:
    explicit FileLimit(rlim_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit now{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FileLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

  private:
    rlimit before_{};
};

TEST(FreeSpace, LeavesAnEmptyFile) {
    const TempFolder folder;
    folder.write("x.h5", "what was there before");
    check_free_space(folder / "x.h5", 1 << 20);
    EXPECT_EQ(fs::file_size(folder / "x.h5"), 0U);
}

TEST(FreeSpace, IsRefusedByALimitToTheSizeOfFiles) {
    const TempFolder folder;
    const FileLimit limit(1 << 16);
    check_free_space(folder / "x.h5", 1 << 16);
    const auto sentence =
        thrown_sentence<base::EnvironmentError>([&] { check_free_space(folder / "x.h5", (1 << 16) + 1); });
    EXPECT_NE(sentence.find("there is no room"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("--directory"), std::string::npos) << sentence;
    EXPECT_FALSE(fs::exists(folder / "x.h5"));
}

TEST(FreeSpace, IsRefusedBySmallFileSystem) {
    const TempFolder folder;
    if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
        GTEST_SKIP() << "a small file system takes root and the right to mount";
    check_free_space(folder / "x.h5", 1 << 19);
    const auto sentence =
        thrown_sentence<base::EnvironmentError>([&] { check_free_space(folder / "x.h5", 2 << 20); });
    EXPECT_NE(sentence.find("there is no room"), std::string::npos) << sentence;
    EXPECT_FALSE(fs::exists(folder / "x.h5"));
    EXPECT_EQ(::umount(folder.path().c_str()), 0);
}

TEST(FreeSpace, IsRefusedInPlacesThatAreNone) {
    const TempFolder folder;
    folder.write("file", "");
    thrown_sentence<base::EnvironmentError>([&] { check_free_space(folder / "none/x.h5", 1); });
    thrown_sentence<base::OptionError>([&] { check_free_space(folder / "file/x.h5", 1); });
    thrown_sentence<base::OptionError>([&] { check_free_space(folder.path(), 1); });
    thrown_sentence<base::OptionError>([&] { check_free_space(folder / std::string(300, 'x'), 1); });
}

Job job_in(const TempFolder& folder, std::int64_t files, std::int64_t size) {
    Job job;
    job.files = files;
    job.size = size;
    job.directory = folder.path();
    return job;
}

std::unique_ptr<Strategy> make(const std::string& name, const Job& job, base::IoTimes& times) {
    for (const auto& entry : strategies()) {
        if (entry.name == name) return entry.make(job, {testing::world(), times, [](std::int64_t) {}});
    }
    throw base::Error("no strategy " + name);
}

TEST(FreeSpace, IsReckonedHighEnough) {
    for (const Layout layout : {Layout::files, Layout::single})
        for (const std::int64_t chunk : {0, 2, 10})
            for (const bool latest : {false, true}) {
                const TempFolder folder;
                Job job = job_in(folder, 3000, 10);
                job.hdf5.layout = layout;
                job.hdf5.chunk = chunk;
                job.hdf5.latest_format = latest;
                base::IoTimes times;
                const auto strategy = make("hdf5-serial", job, times);
                strategy->open();
                strategy->write();
                strategy->close();
                EXPECT_LE(fs::file_size(folder / "data.h5"), hdf5_file_bytes(job)) << chunk << latest;
            }
}

// Somebody else takes the room after it was seen to be there.
TEST(FreeSpace, ThatGoesMeanwhileIsASentence) {
    for (const char* name : {"hdf5-serial", "hdf5-parallel-independent", "hdf5-parallel-collective"}) {
        const TempFolder folder;
        if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=4m") != 0)
            GTEST_SKIP() << "a small file system takes root and the right to mount";
        const Job job = job_in(folder, 20, 100);
        base::IoTimes times;
        auto strategy = make(name, job, times);
        strategy->open();
        std::ofstream other(folder / "other", std::ios::binary);
        other << std::string(3 << 20, 'x') << std::flush;
        other.close();
        const auto sentence = thrown_sentence<base::EnvironmentError>([&] { strategy->write(); });
        EXPECT_NE(sentence.find("there is no room"), std::string::npos) << name << ": " << sentence;
        strategy.reset();
        EXPECT_FALSE(fs::exists(folder / "data.h5"));
        ::umount2(folder.path().c_str(), MNT_DETACH);
    }
}

TEST(FreeSpace, IsReckonedWithoutOverflow) {
    Job job;
    job.files = std::int64_t{1} << 40;
    job.size = std::int64_t{1} << 30;
    EXPECT_GT(hdf5_file_bytes(job), std::uint64_t{1} << 60U);
}

}  // namespace
}  // namespace ranklab::io
