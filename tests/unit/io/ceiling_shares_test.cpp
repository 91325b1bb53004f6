#include "io/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ranklab::io {
namespace {

using ::testing::HasSubstr;
using enum CeilingKind;

// 100 bytes/s to own files, 50 to a shared one, 10 files/s.
const Ceilings kCeilings{{write_own, {300, 3}}, {write_shared, {100, 2}}, {create, {10, 1}}};

// Of a strategy that writes this many records of `bytes` bytes.
std::vector<CeilingShare> shares(std::int64_t records, int bytes, const StrategyTimes& times,
                                 bool shared_file = false, int workers = 1) {
    StrategyEntry strategy;
    strategy.bytes_per_value = bytes;
    strategy.shared_file = shared_file;
    strategy.uses_workers = true;
    Job job;
    job.files = records;
    job.size = 1;
    job.workers = workers;
    return shares_of(kCeilings, job, strategy, times);
}

CeilingShare nearest(const std::vector<CeilingShare>& shares) {
    EXPECT_EQ(std::ranges::count(shares, true, &CeilingShare::nearest), 1);
    return *std::ranges::find(shares, true, &CeilingShare::nearest);
}

TEST(CeilingShares, LargeRecordsAreBoundByWriting) {
    const auto bound = nearest(shares(2, 400, {.write_s = 10, .create_s = 1}));
    EXPECT_EQ(bound.kind, write_own);
    EXPECT_DOUBLE_EQ(bound.ceiling_s, 8);
    EXPECT_DOUBLE_EQ(bound.strategy_s, 10);
    EXPECT_DOUBLE_EQ(bound.percent, 80);
}

TEST(CeilingShares, SmallRecordsAreBoundByCreation) {
    const auto bound = nearest(shares(50, 2, {.write_s = 3, .create_s = 8}));
    EXPECT_EQ(bound.kind, create);
    EXPECT_DOUBLE_EQ(bound.ceiling_s, 5);
    EXPECT_DOUBLE_EQ(bound.percent, 62.5);
}

TEST(CeilingShares, ASharedFileIsBoundByPwrite) {
    const auto all = shares(5000, 1, {.write_s = 125, .create_s = 450}, true);
    ASSERT_EQ(all.size(), 1U) << "neither write() nor creation";
    EXPECT_EQ(nearest(all).kind, write_shared);
    EXPECT_DOUBLE_EQ(all[0].ceiling_s, 100);
    EXPECT_DOUBLE_EQ(all[0].percent, 80);
}

TEST(CeilingShares, EachKindByItself) {
    const auto all = shares(2, 400, {.write_s = 10, .create_s = 1});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].kind, create);
    EXPECT_DOUBLE_EQ(all[1].percent, 20);
}

TEST(CeilingShares, AShareAbove105PerCentIsMarkedAndNoLimit) {
    const auto share = [](double write_s, int workers = 1) {
        const auto all = shares(1, 800, {write_s, 1}, false, workers);
        EXPECT_EQ(nearest(all).kind, all.front().mark.empty() ? write_own : create);
        return all.front();
    };
    EXPECT_DOUBLE_EQ(share(4).percent, 200) << "it is not hidden";
    EXPECT_EQ(share(4).mark, "not the limit: the strategy reached 200.0 % of raw write()");
    EXPECT_THAT(share(4, 3).mark, HasSubstr("one process"));
    EXPECT_EQ(share(8 / 1.04).mark, "") << "104 %: the noise of two measurements";
    EXPECT_NE(share(8 / 1.06).mark, "");
    EXPECT_EQ(share(10).mark, "");
}

TEST(CeilingShares, WhatIsNotKnownBindsNothing) {
    EXPECT_TRUE(shares_of({}, Job{}, StrategyEntry{}, {.write_s = 10, .create_s = 1}).empty());
    EXPECT_TRUE(shares(2, 400, {}).empty());
    EXPECT_TRUE(shares(0, 400, {.write_s = 1, .create_s = 1}).empty());
}

TEST(CeilingShares, TheBestOfSeveralIsTakenKindByKind) {
    const std::vector<Ceilings> measured{{{write_own, {300, 3}}, {write_shared, {100, 2}}},
                                         {{write_shared, {50, 2}}},
                                         {{write_own, {100, 0.5}}, {write_shared, {80, 1}}}};
    const Ceilings best = best_of(measured);
    EXPECT_DOUBLE_EQ(best.at(write_own).per_second(), 200);
    EXPECT_DOUBLE_EQ(best.at(write_shared).per_second(), 80);
    EXPECT_FALSE(best.contains(create));
    EXPECT_TRUE(best_of({}).empty());
}

TEST(CeilingShares, EveryKindHasItsName) {
    EXPECT_EQ(name_of(write_own), "raw write()");
    EXPECT_EQ(name_of(write_shared), "raw pwrite()");
    EXPECT_EQ(name_of(create), "file creation");
}

}  // namespace
}  // namespace ranklab::io
