// What is kept of many ranks in a few bytes.
#include "comm/standing.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/pack.hpp"
#include "comm/line_tree.hpp"

namespace ranklab::comm {
namespace {

using ::testing::HasSubstr;

TEST(RankRanges, AddedInAnyOrderTheyAreOneSet) {
    RankRanges ranges;
    for (const int rank : {5, 1, 3, 2, 9, 4}) ranges.add(rank, rank);
    ranges.add(3, 5);
    EXPECT_EQ(ranges.text(), "1-5,9");
    EXPECT_EQ(ranges.count(), 6);
    ranges.take_out(3);
    ranges.take_out(9);
    EXPECT_EQ(ranges.text(), "1-2,4-5");
    EXPECT_TRUE(ranges.has(5) && !ranges.has(3));
}

TEST(RankRanges, OfManyPiecesAFewAreKeptAndTheOthersCounted) {
    RankRanges ranges;
    for (int rank = 1; rank < 1000; rank += 2) ranges.add(rank, rank);
    EXPECT_EQ(ranges.count(), 500);
    EXPECT_EQ(ranges.text(), "1,3,5,7,9,11,13,15 and 492 more");
    ranges.take_out(999);
    ranges.take_out(1);
    EXPECT_EQ(ranges.count(), 498) << "whether it was kept or counted";
}

TEST(RankGroup, NamesAFewAndCountsTheOthers) {
    RankGroup group;
    group.add(7, "rank 7 on b");
    EXPECT_EQ(group.text(), "rank 7 on b");
    group.add(3, "rank 3 on a");
    EXPECT_EQ(group.text(), "rank 3 on a, rank 7 on b");
    RankRanges behind;
    behind.add(20, 29);
    group.add(behind);
    EXPECT_EQ(group.text(), "rank 3 on a, rank 7 on b and 10 more (20-29)");
}

TEST(Standing, OfManyActivitiesTheCommonAndTheRareAreKept) {
    Standing all;
    RankRanges most;
    most.add(100, 999);
    all.add_activity("training", most);
    for (int rank = 0; rank < 20; ++rank) {
        RankRanges pair;
        pair.add(4 * rank, 4 * rank + (rank == 19 ? 0 : 1));
        all.add_activity(fmt::format("writing file {}", rank), pair);
    }
    EXPECT_EQ(all.activities.size(), Standing::kActivities);
    EXPECT_THAT(all.activities_text(), HasSubstr("ranks 100-999: training"));
    EXPECT_THAT(all.activities_text(), HasSubstr("rank 76: writing file 19"));
    int ranks = all.at_others;
    for (const auto& one : all.activities) ranks += one.ranks.count();
    EXPECT_EQ(ranks, 900 + 39);
}

TEST(Standing, SurvivesTheJourney) {
    Standing all;
    all.silent.add(3, "rank 3 on a");
    all.unknown.add(RankRanges(8));
    all.add_activity("training", RankRanges(1));
    EXPECT_EQ(base::unpacked<Standing>(base::packed(all)), all);
    EXPECT_EQ(base::unpacked<Standing>("nonsense"), std::nullopt);
}

TEST(LineTree, OneLineCrossesTheNetworkForEachHost) {
    std::vector<std::uint64_t> hosts;
    for (int rank = 0; rank < 1200; ++rank)
        hosts.push_back(static_cast<std::uint64_t>(rank % 100));  // cyclic
    const LineTree tree(hosts);
    int across = 0;
    for (int rank = 0; rank < 1200; ++rank) {
        const auto seat = tree.seat_of(rank);
        if (seat.parent >= 0 &&
            hosts[static_cast<std::size_t>(seat.parent)] != hosts[static_cast<std::size_t>(rank)])
            ++across;
        EXPECT_LE(seat.branches.size(), 2U * LineTree::kBranches);
        EXPECT_EQ(seat.parent < 0, rank == 0);
    }
    EXPECT_EQ(across, 99);
}

TEST(LineTree, FewRanksAreAllBelowRank0) {
    const std::vector<std::uint64_t> hosts(8, 1);
    for (int rank = 1; rank < 8; ++rank) {
        const auto seat = LineTree(hosts).seat_of(rank);
        EXPECT_EQ(seat.parent, 0);
        EXPECT_EQ(seat.turn, rank - 1);
        EXPECT_EQ(seat.depth, 1);
    }
}

}  // namespace
}  // namespace ranklab::comm
