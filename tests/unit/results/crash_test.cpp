// A kill loses no stored run, and any number of processes may append at once.
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "results/result_file.hpp"
#include "unit/results/in_child.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

std::set<std::string> stored_ids(const fs::path& path) {
    std::set<std::string> ids;
    for (const auto& run : ResultFile(path).read_all()) ids.insert(run.id);
    return ids;
}

// Appends runs until it is killed, and reports each when append() has returned.
int append_for_ever(const fs::path& path, int round, int descriptor) {
    for (int i = 0;; ++i) {
        const std::string id = std::to_string(round) + "-" + std::to_string(i);
        ResultFile(path).append(sample_run(id));
        const std::string line = id + '\n';
        if (::write(descriptor, line.data(), line.size()) < 0) return 1;
    }
}

std::set<std::string> lines_of(int descriptor) {
    std::set<std::string> lines;
    std::string line;
    for (char c = 0; ::read(descriptor, &c, 1) == 1;) {
        if (c == '\n')
            lines.insert(std::exchange(line, ""));
        else
            line += c;
    }
    return lines;
}

// The runs that a writer reported before it was killed after `delay`.
std::set<std::string> told_before_kill(const fs::path& path, int round,
                                       std::chrono::microseconds delay) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("pipe failed");
    const pid_t child = start_child([&] { return append_for_ever(path, round, ends[1]); });
    ::close(ends[1]);
    std::this_thread::sleep_for(delay);
    ::kill(child, SIGKILL);
    EXPECT_EQ(wait_for(child), -SIGKILL);
    std::set<std::string> ids = lines_of(ends[0]);
    ::close(ends[0]);
    return ids;
}

// The time of one append on this machine, so that kills hit an append at any speed.
std::int64_t append_microseconds(const fs::path& path) {
    const auto start = std::chrono::steady_clock::now();
    ResultFile(path).append(sample_run("timed"));
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                                 start)
        .count();
}

TEST(KilledWriter, LosesNothingStored) {
    const TempFolder folder;
    const fs::path path = folder / "r.h5";
    ResultFile(path).append(sample_run("before"));
    std::set<std::string> expected{"before"};
    std::mt19937 random(20261121);
    std::uniform_int_distribution<std::int64_t> microseconds(500,
                                                             2000 + 6 * append_microseconds(path));
    int killed_writing = 0;
    const auto both_seen = [&] { return killed_writing > 0 && expected.size() > 1; };
    for (int round = 0; round < 5 || (round < 200 && !both_seen()); ++round) {
        // The machine may be slower now than when the time was measured.
        const int patience = 1 + round / 5;
        expected.merge(told_before_kill(
            path, round, std::chrono::microseconds(patience * microseconds(random))));
        killed_writing += folder.names().size() > 1 ? 1 : 0;
        const std::set<std::string> stored = stored_ids(path);
        for (const auto& id : expected)
            EXPECT_TRUE(stored.contains(id)) << id << " in round " << round;
    }
    EXPECT_GT(killed_writing, 0)
        << "no kill fell into an append: the delays do not suit this machine";
    EXPECT_GT(expected.size(), 1U);
    ResultFile(path).append(sample_run("after"));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"r.h5"})
        << "what killed writers left is tidied";
}

TEST(ManyWriters, AreAllStored) {
    constexpr int kWriters = 4;
    constexpr int kRuns = 5;
    const TempFolder folder;
    const fs::path path = folder / "new/r.h5";
    std::vector<pid_t> children;
    for (int writer = 0; writer < kWriters; ++writer) {
        children.push_back(start_child([&] {
            for (int i = 0; i < kRuns; ++i)
                ResultFile(path).append(
                    sample_run(std::to_string(writer) + "-" + std::to_string(i)));
            return 0;
        }));
    }
    for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
    EXPECT_EQ(stored_ids(path).size(), static_cast<std::size_t>(kWriters * kRuns));
}

TEST(Reader, SeesWholeFilesWhileOthersWrite) {
    const TempFolder folder;
    const fs::path path = folder / "r.h5";
    ResultFile(path).append(sample_run("first"));
    const pid_t child = start_child([&] {
        for (int i = 0; i < 10; ++i) ResultFile(path).append(sample_run(std::to_string(i)));
        return 0;
    });
    std::size_t seen = 1;
    while (seen < 11) {
        const std::size_t now = stored_ids(path).size();
        EXPECT_GE(now, seen);
        seen = now;
        if (testing::Test::HasFailure() || ::waitpid(child, nullptr, WNOHANG) == child) break;
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(stored_ids(path).size(), 11U);
}

}  // namespace
}  // namespace ranklab::results
