// The lock of a results file, and runs that go into a separate file because appending failed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/progress.hpp"
#include "base/stop_signals.hpp"
#include "results/result_file.hpp"
#include "thrown_sentence.hpp"
#include "unit/results/in_child.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SetApart : public testing::Test {
  protected:
    SetApart() { ::setenv("TMPDIR", temporary_.path().c_str(), 1); }
    ~SetApart() override { ::unsetenv("TMPDIR"); }

    std::string sentence(double timeout_s = 0.01) const {
        return tests::thrown_sentence<base::EnvironmentError>([&] {
            store_or_set_apart(file(), std::vector{sample_run("new"), sample_run("newer")},
                               timeout_s);
        });
    }
    fs::path file() const { return folder_ / "r.h5"; }
    fs::path apart() const { return folder_ / "r.h5.new.h5"; }

    TempFolder temporary_;  // first: TMPDIR leads here
    TempFolder folder_;
};

// Holds the lock like another process that appends.
base::Descriptor held_lock(const fs::path& file) {
    base::Descriptor lock(
        ::open((file.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 01666));
    EXPECT_EQ(::flock(lock.get(), LOCK_EX), 0);
    return lock;
}

TEST_F(SetApart, WhereAllIsWellTheRunsAreStored) {
    store_or_set_apart(file(), std::vector{sample_run("a"), sample_run("b")});
    EXPECT_EQ(ResultFile(file()).runs().size(), 2U);
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"r.h5"});
}

// As h5py does with a file that it opened with "a": its changes would be lost with the old file.
TEST_F(SetApart, WhereAnotherProgramWritesIntoTheFile) {
    ResultFile(file()).append(sample_run("old"));
    const std::string before = bytes_of(file());
    const base::Descriptor open(::open(file().c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::flock(open.get(), LOCK_EX), 0);
    EXPECT_THAT(sentence(0.05), HasSubstr(file().string() + " open"));
    EXPECT_TRUE(bytes_of(file()) == before);
    ASSERT_EQ(::flock(open.get(), LOCK_SH), 0);
    EXPECT_NO_THROW(store_or_set_apart(file(), std::vector{sample_run("new")}))
        << "a reader does not block";
}

TEST_F(SetApart, WhereTheLockIsHeld) {
    ResultFile(file()).append(sample_run("old"));
    const std::string before = bytes_of(file());
    const auto beats = base::progress_count();
    {
        const auto lock = held_lock(file());
        const std::string said = sentence(0.05);
        EXPECT_THAT(said, HasSubstr(file().string() + ".lock"));
        EXPECT_THAT(said, HasSubstr("`ranklab results merge " + file().string() + " " +
                                    apart().string() + "`"));
    }
    EXPECT_GT(base::progress_count(), beats) << "the watchdog sees the wait";
    EXPECT_TRUE(bytes_of(file()) == before);
    expect_same(ResultFile(apart()).read("newer"), sample_run("newer"));
    EXPECT_EQ(merge(file(), {apart()})[0].added, 2U);
    EXPECT_EQ(ResultFile(file()).runs().size(), 3U);
    fs::remove(apart());
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"r.h5"});
}

TEST_F(SetApart, WhereASignalComesWhileTheLockIsHeld) {
    const base::StopSignals stop;
    const auto lock = held_lock(file());
    std::raise(SIGTERM);
    try {
        store_or_set_apart(file(), std::vector{sample_run("new")}, 300);
        FAIL() << "it was stored";
    } catch (const base::Interrupted& stopped) {
        EXPECT_EQ(stopped.signal(), SIGTERM);
        EXPECT_THAT(stopped.what(), HasSubstr("SIGTERM"));
        EXPECT_THAT(stopped.what(), HasSubstr(apart().string()));
    }
    base::StopSignals::acknowledge();
    EXPECT_EQ(ResultFile(apart()).runs().size(), 1U);
}

TEST_F(SetApart, WhereTheFileBecameAnothers) {
    write_bytes(file(), "text");
    EXPECT_THAT(sentence(), testing::AllOf(HasSubstr("HDF5"), HasSubstr(apart().string())));
    EXPECT_EQ(bytes_of(file()), "text");
    EXPECT_EQ(folder_.names(), (std::vector<std::string>{"r.h5", "r.h5.new.h5"}));
}

TEST_F(SetApart, InTheFolderForTemporaryFilesWhereItsOwnTakesNone) {
    const int code = in_child([&] {
        fs::permissions(folder_.path(), fs::perms(0555));
        fs::permissions(temporary_.path(), fs::perms(0777));
        if (::geteuid() == 0 && ::seteuid(65534) != 0) return 77;
        EXPECT_THAT(sentence(), HasSubstr((temporary_ / "r.h5.new.h5").string()));
        return testing::Test::HasFailure() ? 1 : 0;
    });
    if (code == 77) GTEST_SKIP() << "root cannot become another user here";
    EXPECT_EQ(code, 0);
    EXPECT_EQ(ResultFile(temporary_ / "r.h5.new.h5").runs().size(), 2U);
}

TEST_F(SetApart, OrTheSentenceSaysThatTheyAreLost) {
    const int code = in_child([&] {
        const rlimit limit{10000, 10000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        std::signal(SIGXFSZ, SIG_IGN);
        EXPECT_THAT(sentence(), testing::AllOf(HasSubstr("no room"), HasSubstr("2 runs are lost")));
        return testing::Test::HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(folder_.names().empty());
    EXPECT_TRUE(temporary_.names().empty());
}

TEST(Lock, OfAWriterThatWasKilledIsTakenAndRemoved) {
    const TempFolder folder;
    write_bytes(folder / "r.h5.lock", "");
    fs::permissions(folder / "r.h5.lock", fs::perms(01666));
    ResultFile(folder / "r.h5").append(sample_run());
    EXPECT_EQ(folder.names(), std::vector<std::string>{"r.h5"});
}

TEST(Lock, OfTheUserStays) {
    for (const std::string content : {"", "process 12"}) {
        const TempFolder folder;
        write_bytes(folder / "r.h5.lock", content);
        ResultFile(folder / "r.h5").append(sample_run());
        EXPECT_EQ(bytes_of(folder / "r.h5.lock"), content);
    }
}

TEST(Lock, ThatCannotBeIsRefusedBeforeTheWork) {
    const TempFolder folder;
    fs::create_directory(folder / "r.h5.lock");
    EXPECT_THROW(ResultFile(folder / "r.h5").check_writable(0), base::OptionError);
    fs::create_symlink("elsewhere", folder / "s.h5.lock");
    EXPECT_THROW(ResultFile(folder / "s.h5").check_writable(0), base::OptionError);
}

// Holds a shared lock, like h5py with a file that it reads.
TEST(Lock, IsNotOnTheResultsFileItself) {
    const TempFolder folder;
    const ResultFile file(folder / "r.h5");
    file.append(sample_run("a"));
    const base::Descriptor reader(::open((folder / "r.h5").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(reader.get(), LOCK_SH), 0);
    file.append(sample_run("b"), 0.01);
    EXPECT_EQ(file.runs().size(), 2U);
}

}  // namespace
}  // namespace ranklab::results
