#include "results/staged_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <span>

#include "base/error.hpp"
#include "results/result_file.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

TEST(Resolve, FollowsLinks) {
    const TempFolder folder;
    fs::create_symlink("second", folder / "first");
    fs::create_symlink(folder / "third.h5", folder / "second");
    write_bytes(folder / "third.h5", "");
    EXPECT_EQ(resolve(folder / "first"), folder / "third.h5");
    fs::create_symlink("circle", folder / "circle");
    EXPECT_THROW(resolve(folder / "circle"), base::OptionError);
    EXPECT_THROW(resolve(""), base::OptionError);
    EXPECT_THROW(resolve("results/"), base::OptionError);
    EXPECT_THROW(resolve(".."), base::OptionError);
}

TEST(ThrowErrno, TellsWrongPathsFromWrongPlaces) {
    EXPECT_THROW(throw_errno("open", "a", ENAMETOOLONG), base::OptionError);
    EXPECT_THROW(throw_errno("open", "a", ENOSPC), base::EnvironmentError);
    try {
        throw_errno("mkdir", "a/b", EROFS);
    } catch (const base::Error& error) {
        EXPECT_EQ(
            std::string(error.what()),
            "a/b: the file system is read-only; name a writable folder (mkdir: Read-only file "
            "system)");
        EXPECT_EQ(error.settings(), base::Settings{"output"});
    }
}

TEST(StagedFile, NamesTheTargetWhereItCannotBeMade) {
    try {
        StagedFile("/proc/none/x", "checkpoint");
        FAIL() << "a file was made in /proc";
    } catch (const base::Error& error) {
        EXPECT_THAT(error.what(), ::testing::StartsWith("/proc/none/x: "));
    }
}

TEST(StagedFile, ReplacesWithTheSamePermissions) {
    const TempFolder folder;
    const fs::path target = folder / "x";
    write_bytes(target, "old");
    fs::permissions(target, fs::perms(0640));
    {
        StagedFile staged(target);
        staged.copy_target();
        EXPECT_EQ(bytes_of(staged.path()), "old");
        write_bytes(staged.path(), "new");
        EXPECT_EQ(bytes_of(target), "old");
        staged.commit();
    }
    EXPECT_EQ(bytes_of(target), "new");
    EXPECT_EQ(fs::status(target).permissions(), fs::perms(0640));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"x"});
}

TEST(StagedFile, HoldsWhatWasWrittenAndNoReservedRest) {
    const TempFolder folder;
    const std::string text(100000, 'x');
    {
        StagedFile staged(folder / "x", "checkpoint");
        staged.reserve(text.size());
        for (const std::size_t part : {1, 99999})
            staged.write(std::as_bytes(std::span(text).first(part)));
        staged.commit();
    }
    EXPECT_EQ(bytes_of(folder / "x"), text);
}

TEST(StagedFile, SpeaksOfTheOptionItIsFor) {
    try {
        StagedFile("/proc/none/x", "checkpoint");
        FAIL() << "a file was made in /proc";
    } catch (const base::Error& error) {
        EXPECT_EQ(error.settings(), base::Settings{"checkpoint"}) << error.what();
    }
}

TEST(StagedFile, GoesWhenNotCommitted) {
    const TempFolder folder;
    { StagedFile(folder / "x").reserve(1000); }
    EXPECT_TRUE(folder.names().empty());
}

TEST(StagedFile, NewFilesFollowTheUmask) {
    const TempFolder folder;
    const mode_t before = ::umask(027);
    StagedFile(folder / "x").commit();
    ::umask(before);
    EXPECT_EQ(fs::status(folder / "x").permissions(), fs::perms(0640));
}

TEST(TextFile, ReplacesTextAlone) {
    const TempFolder folder;
    write_bytes(folder / "t.txt", "old");
    write_text(folder / "t.txt", "new", "output");
    EXPECT_EQ(bytes_of(folder / "t.txt"), "new");
    const ResultFile results(folder / "r.h5");
    results.append(sample_run());
    fs::create_symlink("t.txt", folder / "link");
    fs::create_directory(folder / "folder");
    ::mkfifo((folder / "fifo").c_str(), 0600);
    for (const char* name : {"r.h5", "link", "folder", "fifo"})
        EXPECT_THROW(write_text(folder / name, "text", "output"), base::OptionError) << name;
    EXPECT_THROW(write_text("/dev/null", "text", "output"), base::OptionError);
    EXPECT_EQ(results.runs().size(), 1U);
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(bytes_of(folder / "t.txt"), "new");
}

TEST(RemoveLeftovers, TakesOnlyItsOwn) {
    const TempFolder folder;
    for (const char* name :
         {".a.0123456789abcdef.tmp", ".a.h5.0123456789abcdef.tmp", ".a.0123456789abcde.tmp",
          "a.0123456789abcdef.tmp", ".a.0123456789abcdeX.tmp"})
        write_bytes(folder / name, "");
    remove_leftovers(folder / "a");
    EXPECT_EQ(folder.names().size(), 4U);
    EXPECT_FALSE(fs::exists(folder / ".a.0123456789abcdef.tmp"));
}

}  // namespace
}  // namespace ranklab::results
