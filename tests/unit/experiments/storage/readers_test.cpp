#include "experiments/storage/readers.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace ranklab::experiments {
namespace {

using base::Share;

constexpr std::int64_t kFiles = 13;

WrittenBy shared_out(int writers, std::vector<int> node) {
    WrittenBy written{.node = std::move(node), .records = {}, .files = kFiles};
    for (int rank = 0; rank < writers; ++rank)
        written.records.push_back({base::share_of(kFiles, rank, writers)});
    return written;
}

std::map<std::int64_t, int> owners(const std::vector<std::vector<Share>>& records) {
    std::map<std::int64_t, int> of;
    for (std::size_t rank = 0; rank < records.size(); ++rank)
        for (const Share& share : records[rank])
            for (std::int64_t id = share.first; id < share.end(); ++id) of[id] = static_cast<int>(rank);
    return of;
}

/// Each record is read once; by whom.
std::map<std::int64_t, int> readers_of(const WrittenBy& written, int readers, int job,
                                       ReadPlan (*plan)(const WrittenBy&, int, int)) {
    std::vector<std::vector<Share>> read;
    std::int64_t all = 0;
    for (int rank = 0; rank < job; ++rank) {
        read.push_back(plan(written, readers, rank).records);
        all += plan(written, readers, rank).count();
    }
    EXPECT_EQ(all, written.files);
    return owners(read);
}

void expect_others(const WrittenBy& written, int readers, int job) {
    const auto wrote = owners(written.records);
    const auto reads = readers_of(written, readers, job, plan_for_others);
    ASSERT_EQ(reads.size(), static_cast<std::size_t>(written.files));
    for (const auto& [id, rank] : reads) EXPECT_NE(rank, wrote.at(id)) << "record " << id;
}

TEST(Readers, WhatRankZeroWroteIsReadByAllOthersAndNotByIt) {
    for (const int job : {2, 3, 4}) {
        SCOPED_TRACE(job);
        const auto written = shared_out(1, std::vector<int>(static_cast<std::size_t>(job), 0));
        expect_others(written, job, job);
        EXPECT_EQ(plan_for_others(written, job, 0).count(), 0);
        EXPECT_EQ(plan_for_others(written, job, 1).who, WhoReads::others);
    }
}

TEST(Readers, OneRankReadsItsOwnAndItIsSaidSo) {
    const auto written = shared_out(1, {0});
    const ReadPlan plan = plan_for_others(written, 1, 0);
    EXPECT_EQ(plan.count(), kFiles);
    EXPECT_EQ(plan.who, WhoReads::writers);
    EXPECT_EQ(order_of(plan.who), "own");
    EXPECT_EQ(words_of(plan.who, false), "read back by the rank that wrote them");
    EXPECT_EQ(words_of(plan.who, true), "read back by the rank whose worker processes wrote them");
}

TEST(Readers, WhatAllRanksWroteIsReadByOthers) {
    for (const int job : {2, 3, 4}) {
        SCOPED_TRACE(job);
        const auto written = shared_out(job, std::vector<int>(static_cast<std::size_t>(job), 0));
        expect_others(written, job, job);
        EXPECT_EQ(plan_in_order(written, job, 0).who, WhoReads::writers);
        EXPECT_EQ(readers_of(written, job, job, plan_in_order), owners(written.records));
    }
}

// Chunks went to whoever asked.
TEST(Readers, OfDynamicChunksNobodyReadsItsOwn) {
    WrittenBy written{.node = {0, 0, 0},
                      .records = {{{0, 1}, {2, 3}, {9, 1}}, {{1, 1}, {5, 4}}, {{10, 3}}},
                      .files = kFiles};
    expect_others(written, 3, 3);
    EXPECT_EQ(plan_in_order(written, 3, 0).who, WhoReads::all);
    written.records = {{{0, 13}}, {}, {}};  // rank 0 was quicker than all others
    expect_others(written, 3, 3);
}

TEST(Readers, ReadersOnOtherNodesArePreferred) {
    const auto apart = [](const WrittenBy& written, int job) {
        const auto wrote = owners(written.records);
        int count = 0;
        for (const auto& [id, rank] : readers_of(written, job, job, plan_for_others))
            count += written.node[static_cast<std::size_t>(rank)] !=
                     written.node[static_cast<std::size_t>(wrote.at(id))];
        return count;
    };
    for (const std::vector<int>& node : {std::vector<int>{0, 0, 1, 1}, {0, 1, 0, 1}}) {
        const auto written = shared_out(4, node);
        EXPECT_EQ(apart(written, 4), kFiles);
        EXPECT_EQ(plan_for_others(written, 4, 3).who, WhoReads::other_nodes);
    }
    const auto uneven = shared_out(3, {0, 0, 1});
    EXPECT_EQ(plan_for_others(uneven, 3, 0).who, WhoReads::some_other_nodes);
    const auto by_rank_0 = shared_out(1, {0, 0, 1, 1});
    EXPECT_EQ(apart(by_rank_0, 4), kFiles);
    EXPECT_EQ(plan_for_others(by_rank_0, 4, 1).count(), 0) << "a rank of the writer's node";
    EXPECT_EQ(plan_for_others(by_rank_0, 4, 1).who, WhoReads::other_nodes);
}

// One record of three ranks: who wrote nothing is no reason to claim that other nodes read.
TEST(Readers, RanksThatWroteNothingAreNotCounted) {
    WrittenBy written{.node = {0, 0, 1}, .records = {{{0, 1}}, {{1, 0}}, {{1, 0}}}, .files = 1};
    EXPECT_EQ(plan_for_others(written, 3, 2).count(), 1) << "the one on the other node";
    EXPECT_EQ(plan_for_others(written, 3, 0).who, WhoReads::other_nodes);
    written.node = {0, 0, 0};
    EXPECT_EQ(plan_for_others(written, 3, 0).who, WhoReads::others);
}

TEST(Readers, RanksThatTookNoPartReadWhatRank0Wrote) {
    expect_others(shared_out(1, {0, 0, 0}), 3, 3);
}

TEST(Readers, WhatIsNotKnownIsNotClaimed) {
    auto written = shared_out(2, {0, 1});
    written.known = false;
    EXPECT_EQ(plan_for_others(written, 2, 0).who, WhoReads::unknown);
    EXPECT_EQ(plan_in_order(written, 2, 0).who, WhoReads::unknown);
    written.known = true;
    written.together = true;
    EXPECT_EQ(plan_for_others(written, 2, 0).who, WhoReads::together);
    EXPECT_EQ(plan_in_order(written, 2, 0).who, WhoReads::together);
    readers_of(written, 2, 2, plan_for_others);
}

TEST(Readers, ReadingInOrderIsOwnOnlyWhereItIs) {
    const auto written = shared_out(1, {0, 0});
    EXPECT_EQ(plan_in_order(written, 2, 0).who, WhoReads::all) << "rank 1 reads what rank 0 wrote";
    EXPECT_EQ(order_of(WhoReads::all), "shared out");
    EXPECT_EQ(plan_in_order(written, 1, 0).who, WhoReads::writers);
}

}  // namespace
}  // namespace ranklab::experiments
