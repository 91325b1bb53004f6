// A run lies alone on the disk from its first numbers until it is stored.
#include "results/keeper.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "results/result_file.hpp"
#include "thrown_sentence.hpp"
#include "unit/results/in_child.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;
using tests::thrown_sentence;

constexpr const char* kId = "20261121T101500Z-3f9a1c";

StoredRun partial_run() {
    StoredRun run = sample_run(kId);
    run.valid = false;
    return run;
}

TEST(Keeper, SecuresBesideTheSharedFileAndRemovesWhatIsStored) {
    const TempFolder folder;
    Keeper keeper(folder / "r.h5");
    EXPECT_EQ(keeper.secure(sample_run(kId)), folder / (std::string("r.h5.") + kId + ".pending.h5"));
    EXPECT_EQ(ResultFile(keeper.path()).read(kId).measurements.size(), sample_run().measurements.size());
    EXPECT_FALSE(fs::exists(folder / "r.h5"));
    keeper.store(sample_run(kId), {});
    EXPECT_TRUE(keeper.path().empty());
    EXPECT_EQ(ResultFile(folder / "r.h5").runs().size(), 1U);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"r.h5"})
        << "but for the lock, which names() leaves out";
}

TEST(Keeper, TheWholeRunTakesThePlaceOfThePart) {
    const TempFolder folder;
    Keeper keeper(folder / "r.h5");
    keeper.secure(partial_run());
    EXPECT_FALSE(ResultFile(keeper.path()).read(kId).valid);
    keeper.secure(sample_run(kId));
    const auto runs = ResultFile(keeper.path()).read_all();
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_TRUE(runs.front().valid);
}

TEST(Keeper, AFailureToStoreLeavesItWhereItIs) {
    const TempFolder folder;
    write_bytes(folder / "r.h5", "a diary");
    Keeper keeper(folder / "r.h5");
    const fs::path place = keeper.secure(sample_run(kId));
    thrown_sentence<base::DataError>([&] { keeper.store(sample_run(kId), {}); });
    EXPECT_EQ(keeper.path(), place);
    EXPECT_EQ(ResultFile(place).runs().size(), 1U);
    EXPECT_EQ(bytes_of(folder / "r.h5"), "a diary");
}

TEST(Keeper, WhereTheFolderDoesNotTakeItAnotherDoes) {
    const TempFolder temporary;
    const TempFolder folder;
    EXPECT_EQ(in_child([&] {
                  ::setenv("TMPDIR", temporary.path().c_str(), 1);
                  Keeper keeper(folder / "gone" / "r.h5");
                  const fs::path place = keeper.secure(sample_run(kId));
                  const bool there = place.string().starts_with(temporary.path().string()) &&
                                     ResultFile(place).runs().size() == 1;
                  if (keeper.secure(sample_run(kId)) != place) return 2;
                  fs::create_directory(folder / "gone");
                  keeper.store(sample_run(kId), {});
                  return there && !fs::exists(place.parent_path()) ? 0 : 1;
              }),
              0);
    EXPECT_TRUE(temporary.names().empty());
}

// The part that was kept stays where the whole does not fit any more.
TEST(Keeper, APartOutlivesAWholeThatHasNoRoom) {
    const TempFolder folder;
    EXPECT_EQ(in_child([&] {
                  Keeper keeper(folder / "r.h5");
                  keeper.secure(partial_run());
                  ::signal(SIGXFSZ, SIG_IGN);
                  const rlimit none{1024, 1024};
                  ::setrlimit(RLIMIT_FSIZE, &none);
                  const auto sentence =
                      thrown_sentence<base::EnvironmentError>([&] { keeper.secure(sample_run(kId)); });
                  return sentence.find("could not be saved anywhere") != std::string::npos &&
                                 !ResultFile(keeper.path()).read(kId).valid
                             ? 0
                             : 1;
              }),
              0);
    EXPECT_EQ(left_behind(folder / "r.h5").size(), 1U);
}

TEST(Keeper, ItIsInUseWhileItsProcessLives) {
    const TempFolder folder;
    Keeper keeper(folder / "r.h5");
    keeper.secure(partial_run());
    const fs::path place = keeper.secure(sample_run(kId));
    EXPECT_TRUE(is_pending(place));
    EXPECT_EQ(in_child([&] { return is_in_use(place) && left_behind(folder / "r.h5").empty() ? 0 : 1; }), 0);
}

// Others look all the time, also while the part gives way to a newer one.
TEST(Keeper, ItIsNeverTakenForLeftBehindWhileItsProcessLives) {
    const TempFolder folder;
    std::atomic<bool> ends{false};
    std::size_t found = 0;
    std::thread looks([&] {
        while (!ends) found += left_behind(folder / "r.h5").size();
    });
    {
        Keeper keeper(folder / "r.h5");
        for (int i = 0; i < 30; ++i) keeper.secure(partial_run());
        keeper.store(sample_run(kId), {});
    }
    ends = true;
    looks.join();
    EXPECT_EQ(found, 0U);
}

TEST(Keeper, TwoWhoLookDoNotTakeEachOtherForItsProcess) {
    const TempFolder folder;
    const fs::path left = folder / "r.h5.x.pending.h5";
    write_bytes(left, "left");
    const base::Descriptor other(::open(left.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(other.get(), LOCK_SH), 0);
    EXPECT_FALSE(is_in_use(left));
    EXPECT_EQ(left_behind(folder / "r.h5").size(), 1U);
}

TEST(Keeper, WhatAKilledProcessLeftIsFound) {
    const TempFolder folder;
    EXPECT_EQ(in_child([&] {
                  Keeper keeper(folder / "r.h5");
                  keeper.secure(sample_run(kId));
                  ::raise(SIGKILL);
                  return 0;
              }),
              -SIGKILL);
    const auto left = left_behind(folder / "r.h5");
    ASSERT_EQ(left.size(), 1U);
    EXPECT_FALSE(is_in_use(left.front()));
    EXPECT_EQ(ResultFile(left.front()).runs().front().id, kId);
    EXPECT_TRUE(left_behind(folder / "other.h5").empty());
    EXPECT_TRUE(left_behind(folder / "no" / "such" / "r.h5").empty());
}

// Half a file of a killed process goes when it is a day old; a living one's stays.
TEST(Keeper, OldHalvesAreTidiedAway) {
    const TempFolder folder;
    const std::string name = std::string(".r.h5.") + kId + ".pending.h5.0123456789abcdef.tmp";
    write_bytes(folder / name, "half");
    static_cast<void>(left_behind(folder / "r.h5"));
    EXPECT_TRUE(fs::exists(folder / name));
    fs::last_write_time(folder / name, fs::file_time_type::clock::now() - std::chrono::hours(25));
    static_cast<void>(left_behind(folder / "r.h5"));
    EXPECT_FALSE(fs::exists(folder / name));
}

}  // namespace
}  // namespace ranklab::results
