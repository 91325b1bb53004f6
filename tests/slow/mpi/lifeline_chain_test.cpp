// The lifeline where ranks are behind others: a chain of real processes over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "comm/lifeline.hpp"
#include "mpi_world.hpp"

namespace ranklab::comm {
namespace {

using base::Motion;
using ranklab::testing::world;
using std::chrono::milliseconds;

struct Heard {
    std::atomic<int> lost{0};
    LifelineCalls calls() {
        return {[this](const std::string&) { ++lost; }, [this](const std::string&) { ++lost; },
                [](const std::string&) {}};
    }
};

LifelineSettings chain() {
    LifelineSettings settings;
    settings.branches = 1;
    return settings;
}

bool all_say(bool mine) {
    std::int64_t all = mine ? 1 : 0;
    world().allreduce(view(std::span(&all, 1)), ReduceOp::min);
    return all != 0;
}

// Notes go to and fro, at each other's pace, until all say so. Who is in `silent` says nothing.
void talk_until(Lifeline& line, int mover, const std::function<bool()>& enough,
                const std::set<int>& silent = {}) {
    for (bool done = false; !all_say(done);) {
        if (silent.contains(world().rank())) {
            done = true;
            std::this_thread::sleep_for(milliseconds(20));
            continue;
        }
        const Motion others = line.heard();
        line.tell(world().rank() == mover ? Motion::seen : Motion::none, "testing");
        done = done || world().rank() == mover || others == Motion::seen;
        done = done && enough();
        std::this_thread::sleep_for(milliseconds(20));
    }
}

void talk(Lifeline& line, int mover) {
    talk_until(line, mover, [] { return true; });
}

int descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<int>(std::distance(begin(all), end(all)));
}

TEST(LifelineChain, MotionOfEachRankComesToAllAndRank0KnowsThemAll) {
    Heard heard;
    {
        Lifeline line(world(), "node", heard.calls(), chain());
        EXPECT_EQ(line.depth(), world().world_size() - 1);
        EXPECT_EQ(line.level(), world().rank());
        for (int mover = 0; world().world_size() > 1 && mover < world().world_size(); ++mover)
            talk(line, mover);
        if (world().rank() == 0 && world().world_size() > 1) {
            const auto others = line.others().value();
            EXPECT_TRUE(others.silent.empty() && others.unknown.empty());
            ASSERT_EQ(others.activities.size(), 1U);
            EXPECT_EQ(others.activities.front().ranks.count(), world().world_size() - 1);
        }
        world().barrier();
    }
    EXPECT_EQ(heard.lost, 0);
}

TEST(LifelineChain, OneRankAloneHasNobody) {
    Heard heard;
    const int before = descriptors();
    if (world().world_size() > 1) GTEST_SKIP() << "of one rank";
    Lifeline line(world(), "node", heard.calls());
    EXPECT_EQ(line.others(), std::nullopt);
    EXPECT_EQ(line.heard(), Motion::none);
    EXPECT_EQ(descriptors(), before);
}

// Three of its own, a line for each neighbour, and a door (a listener and its epoll) until all are here.
TEST(LifelineChain, ALineForEachNeighbourAndNoMore) {
    if (world().world_size() == 1) GTEST_SKIP() << "of several ranks";
    for (const int branches : {1, LineTree::kBranches}) {
        world().barrier();
        const int before = descriptors();
        Heard heard;
        {
            auto settings = chain();
            settings.branches = branches;
            Lifeline line(world(), "node", heard.calls(), settings);
            const auto has_met = [&] { return line.others()->unknown.empty(); };
            talk_until(line, 0, has_met);
            talk_until(line, world().world_size() - 1, has_met);
            const LineTree tree(std::vector<std::uint64_t>(world().world_size()), branches);
            const auto seat = tree.seat_of(world().rank());
            const int lines = static_cast<int>(seat.branches.size()) + (seat.parent >= 0 ? 1 : 0);
            talk_until(line, 0, [&] { return descriptors() == before + 3 + lines; });  // the doors close
            EXPECT_EQ(descriptors(), before + 3 + lines);
            world().barrier();
        }
        EXPECT_EQ(descriptors(), before) << "nothing is left open";
        EXPECT_EQ(heard.lost, 0);
    }
}

// Rank 1 says nothing, as one that is stopped: rank 2 goes to rank 0, by a door that has opened again.
TEST(LifelineChain, WhoIsBehindASilentRankFindsAnotherWay) {
    if (world().world_size() < 3) GTEST_SKIP() << "of three ranks or more";
    Heard heard;
    {
        Lifeline line(world(), "node", heard.calls(), chain());
        for (int mover = 0; mover < 3; ++mover) talk(line, mover);
        const auto is_silent = [&] {
            if (world().rank() != 0) return true;
            const auto others = line.others().value();
            return others.silent.text() == "rank 1 on node" && others.unknown.empty();
        };
        talk_until(line, world().world_size() - 1, is_silent, {1});
        const auto all_speak = [&] { return world().rank() != 0 || line.others()->silent.empty(); };
        talk_until(line, 1, all_speak);
        world().barrier();
    }
    EXPECT_EQ(heard.lost, 0);
}

// Rank 2 cannot come to rank 1's door, and comes to rank 0's.
TEST(LifelineChain, WhoIsTurnedAwayByTheOneAboveComesToTheNext) {
    if (world().world_size() < 3) GTEST_SKIP() << "of three ranks or more";
    Heard heard;
    {
        auto settings = chain();
        settings.patience = {milliseconds(300), milliseconds(8000)};
        if (world().rank() == 1) settings.open_for = milliseconds(0);
        if (world().rank() == 2)
            settings.before_meeting = [] { std::this_thread::sleep_for(milliseconds(500)); };
        Lifeline line(world(), "node", heard.calls(), settings);
        const auto has_met = [&] { return line.others()->unknown.empty(); };
        for (int mover = 0; mover < world().world_size(); ++mover) talk_until(line, mover, has_met);
        world().barrier();
    }
    EXPECT_EQ(heard.lost, 0);
}

}  // namespace
}  // namespace ranklab::comm
