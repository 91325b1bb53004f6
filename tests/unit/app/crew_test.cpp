#include "app/crew.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace ranklab::app {
namespace {

using Ranks = std::vector<int>;

std::vector<host::Placement> on(const std::vector<std::string>& hosts) {
    std::vector<host::Placement> places(hosts.size());
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        places[i].rank = static_cast<int>(i);
        places[i].host = hosts[i];
        places[i].threads = 10 + static_cast<int>(i);
    }
    return places;
}

TEST(CrewRanks, AreOfAsFewHostsAsPossible) {
    const auto blocks = on({"a", "a", "b", "b"});
    EXPECT_EQ(crew_ranks(blocks, 2, false), (Ranks{0, 1}));
    EXPECT_EQ(crew_ranks(blocks, 3, false), (Ranks{0, 1, 2}));
    const auto cyclic = on({"a", "b", "a", "b"});
    EXPECT_EQ(crew_ranks(cyclic, 2, false), (Ranks{0, 2})) << "whatever order the launcher started them in";
    EXPECT_EQ(crew_ranks(cyclic, 4, false), (Ranks{0, 1, 2, 3}));
}

TEST(CrewRanks, AreOfEachHostInTurnWhereTheySpread) {
    EXPECT_EQ(crew_ranks(on({"a", "a", "b", "b"}), 2, true), (Ranks{0, 2}));
    EXPECT_EQ(crew_ranks(on({"a", "a", "b", "b"}), 3, true), (Ranks{0, 1, 2}));
    EXPECT_EQ(crew_ranks(on({"a", "b", "b", "b"}), 3, true), (Ranks{0, 1, 2}));
}

TEST(CrewRanks, OfALargerCrewHaveAllOfASmallerOneAndRank0) {
    const auto places = on({"b", "a", "b", "c", "a", "b", "c"});
    for (const bool spread : {false, true}) {
        for (int count = 1; count < 7; ++count) {
            const auto some = crew_ranks(places, count, spread), more = crew_ranks(places, count + 1, spread);
            EXPECT_TRUE(std::ranges::includes(more, some)) << count;
            EXPECT_EQ(some.front(), 0) << count;
        }
    }
}

TEST(CrewPlacements, AreAsIfThereWereNoOthers) {
    const auto theirs = placements_of(on({"a", "b", "a", "b"}), {0, 2, 3});
    ASSERT_EQ(theirs.size(), 3U);
    EXPECT_EQ(theirs[1].rank, 1);
    EXPECT_EQ(theirs[1].local_rank, 1);
    EXPECT_EQ(theirs[2].local_rank, 0);
    EXPECT_EQ(theirs[2].threads, 13) << "what the rank has, it has";
}

}  // namespace
}  // namespace ranklab::app
