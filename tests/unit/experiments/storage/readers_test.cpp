#include "experiments/storage/readers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/numbers.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::int64_t kFiles = 13;
using Nodes = std::vector<std::string>;

WrittenBy shared_out(int writers, Nodes node) {
    std::vector<int> writer;
    for (int rank = 0; rank < writers; ++rank)
        writer.insert(writer.end(), base::share_of(kFiles, rank, writers).count, rank);
    return {.node = std::move(node), .writer = writer, .writers = writers};
}

Nodes one_node(int ranks) {
    return Nodes(static_cast<std::size_t>(ranks), "a");
}

/// The reader of each record; expects exactly one.
std::vector<int> readers_of(const WrittenBy& written, ReadPlan (*plan)(const WrittenBy&, int)) {
    std::vector<int> reader(written.writer.size(), -1);
    std::size_t all = 0;
    for (int rank = 0; rank < static_cast<int>(written.node.size()); ++rank)
        for (const auto id : plan(written, rank).records) {
            reader[static_cast<std::size_t>(id)] = rank;
            ++all;
        }
    EXPECT_EQ(all, written.writer.size());
    return reader;
}

void expect_others(const WrittenBy& written) {
    const auto reads = readers_of(written, plan_for_others);
    for (std::size_t id = 0; id < written.writer.size(); ++id) {
        EXPECT_GE(reads[id], 0) << "record " << id;
        EXPECT_NE(reads[id], written.writer[id]) << "record " << id;
    }
}

TEST(Readers, WhatRankZeroWroteIsReadByAllOthersAndNotByIt) {
    for (const int job : {2, 3, 4}) {
        SCOPED_TRACE(job);
        const auto written = shared_out(1, one_node(job));
        expect_others(written);
        EXPECT_EQ(plan_for_others(written, 0).records.size(), 0U);
        EXPECT_EQ(plan_for_others(written, 1).who, WhoReads::others);
    }
}

TEST(Readers, OneRankReadsItsOwnAndItIsSaidSo) {
    const auto written = shared_out(1, one_node(1));
    const ReadPlan plan = plan_for_others(written, 0);
    EXPECT_EQ(plan.records.size(), kFiles);
    EXPECT_EQ(plan.who, WhoReads::writers);
    EXPECT_EQ(order_of(plan.who), "own");
    EXPECT_EQ(words_of(plan.who, false), "read back by the rank that wrote them");
    EXPECT_EQ(words_of(plan.who, true), "read back by the rank whose worker processes wrote them");
}

TEST(Readers, WhatAllRanksWroteIsReadByOthers) {
    for (const int job : {2, 3, 4}) {
        SCOPED_TRACE(job);
        const auto written = shared_out(job, one_node(job));
        expect_others(written);
        EXPECT_EQ(plan_in_order(written, 0).who, WhoReads::writers);
        EXPECT_EQ(readers_of(written, plan_in_order), written.writer);
    }
}

TEST(Readers, WhoeverWroteWhatNobodyReadsItsOwn) {
    auto written = shared_out(3, one_node(3));
    written.writer = {0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 2, 2, 2};
    expect_others(written);
    EXPECT_EQ(plan_in_order(written, 0).who, WhoReads::all);
    written.writer.assign(kFiles, 0);  // rank 0 was quicker than all others
    expect_others(written);
}

TEST(Readers, ReadersOnOtherNodesArePreferred) {
    const auto apart = [](const WrittenBy& written) {
        const auto node = [&](int rank) { return written.node[static_cast<std::size_t>(rank)]; };
        const auto reads = readers_of(written, plan_for_others);
        int count = 0;
        for (std::size_t id = 0; id < reads.size(); ++id)
            count += node(reads[id]) != node(written.writer[id]) ? 1 : 0;
        return count;
    };
    for (const Nodes& node : {Nodes{"a", "a", "b", "b"}, Nodes{"a", "b", "a", "b"}}) {
        const auto written = shared_out(4, node);
        EXPECT_EQ(apart(written), kFiles);
        EXPECT_EQ(plan_for_others(written, 3).who, WhoReads::other_nodes);
    }
    const auto uneven = shared_out(3, {"a", "a", "b"});
    EXPECT_EQ(plan_for_others(uneven, 0).who, WhoReads::some_other_nodes);
    const auto by_rank_0 = shared_out(1, {"a", "a", "b", "b"});
    EXPECT_EQ(apart(by_rank_0), kFiles);
    EXPECT_EQ(plan_for_others(by_rank_0, 1).records.size(), 0U) << "a rank of the writer's node";
    EXPECT_EQ(plan_for_others(by_rank_0, 1).who, WhoReads::other_nodes);
}

// One record of three ranks: ranks that wrote nothing do not count as other nodes.
TEST(Readers, RanksThatWroteNothingAreNotCounted) {
    WrittenBy written{.node = {"a", "a", "b"}, .writer = {0}, .writers = 3};
    EXPECT_EQ(plan_for_others(written, 2).records.size(), 1U) << "the one on the other node";
    EXPECT_EQ(plan_for_others(written, 0).who, WhoReads::other_nodes);
    written.node = one_node(3);
    EXPECT_EQ(plan_for_others(written, 0).who, WhoReads::others);
}

TEST(Readers, RanksThatTookNoPartReadWhatRank0Wrote) {
    expect_others(shared_out(1, one_node(3)));
}

TEST(Readers, WhatIsNotKnownIsNotClaimed) {
    auto written = shared_out(2, {"a", "b"});
    written.known = false;
    EXPECT_EQ(plan_for_others(written, 0).who, WhoReads::unknown);
    EXPECT_EQ(plan_in_order(written, 0).who, WhoReads::unknown);
    written.known = true;
    written.together = true;
    EXPECT_EQ(plan_for_others(written, 0).who, WhoReads::together);
    EXPECT_EQ(plan_in_order(written, 0).who, WhoReads::together);
    readers_of(written, plan_for_others);
}

TEST(Readers, ReadingInOrderIsOwnOnlyWhereItIs) {
    const auto written = shared_out(1, one_node(2));
    EXPECT_EQ(plan_in_order(written, 0).who, WhoReads::all) << "rank 1 reads what rank 0 wrote";
    EXPECT_EQ(order_of(WhoReads::all), "shared out");
    EXPECT_EQ(plan_in_order(shared_out(1, one_node(1)), 0).who, WhoReads::writers);
}

}  // namespace
}  // namespace ranklab::experiments
