#include "io/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ranklab::io {
namespace {

using ::testing::HasSubstr;
using enum CeilingKind;

// 100 bytes/s to own files, 50 to a shared one, 10 files/s.
const Ceilings kCeilings{{write_own, {300, 3}}, {write_shared, {100, 2}}, {create, {10, 1}}};

std::map<CeilingKind, CeilingShare> by_kind(const StrategyEffort& strategy) {
    std::map<CeilingKind, CeilingShare> shares;
    for (const auto& share : shares_of(kCeilings, strategy)) shares[share.kind] = share;
    return shares;
}

CeilingShare nearest(const StrategyEffort& strategy, const Ceilings& ceilings = kCeilings) {
    std::vector<CeilingShare> found;
    for (const auto& share : shares_of(ceilings, strategy))
        if (share.nearest) found.push_back(share);
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? CeilingShare{} : found.front();
}

TEST(CeilingShares, LargeRecordsAreBoundByWriting) {
    const auto bound = nearest({.records = 2, .bytes = 800, .write_s = 10, .create_s = 1});
    EXPECT_EQ(bound.kind, write_own);
    EXPECT_DOUBLE_EQ(bound.ceiling_s, 8);
    EXPECT_DOUBLE_EQ(bound.strategy_s, 10);
    EXPECT_DOUBLE_EQ(bound.percent, 80);
}

TEST(CeilingShares, SmallRecordsAreBoundByCreation) {
    const auto bound = nearest({.records = 50, .bytes = 100, .write_s = 3, .create_s = 8});
    EXPECT_EQ(bound.kind, create);
    EXPECT_DOUBLE_EQ(bound.ceiling_s, 5);
    EXPECT_DOUBLE_EQ(bound.percent, 62.5);
}

TEST(CeilingShares, ASharedFileIsBoundByPwrite) {
    const StrategyEffort strategy{
        .records = 5000, .bytes = 100, .shared_file = true, .write_s = 2.5, .create_s = 9};
    const auto bound = nearest(strategy);
    EXPECT_EQ(bound.kind, write_shared);
    EXPECT_DOUBLE_EQ(bound.ceiling_s, 2);
    EXPECT_DOUBLE_EQ(bound.percent, 80);
    EXPECT_EQ(by_kind(strategy).size(), 1U) << "neither write() nor creation";
}

TEST(CeilingShares, EachKindByItself) {
    const auto shares = by_kind({.records = 2, .bytes = 800, .write_s = 10, .create_s = 1});
    EXPECT_EQ(shares.size(), 2U);
    EXPECT_DOUBLE_EQ(shares.at(create).percent, 20);
}

TEST(CeilingShares, AShareAbove105PerCentIsMarked) {
    const auto share = [](double write_s, int workers = 1) {
        return nearest(
            {.records = 1, .bytes = 800, .write_s = write_s, .create_s = 1, .workers = workers});
    };
    EXPECT_DOUBLE_EQ(share(4).percent, 200) << "it is not hidden";
    EXPECT_EQ(share(4).mark, "200.0 % of raw write(): not the limit");
    EXPECT_THAT(share(4, 3).mark, HasSubstr("one process"));
    EXPECT_EQ(share(8 / 1.04).mark, "") << "104 %: the noise of two measurements";
    EXPECT_NE(share(8 / 1.06).mark, "");
    EXPECT_EQ(share(10).mark, "");
}

TEST(CeilingShares, WhatIsNotKnownBindsNothing) {
    EXPECT_TRUE(shares_of({}, {.records = 2, .bytes = 800, .write_s = 10, .create_s = 1}).empty());
    EXPECT_TRUE(shares_of(kCeilings, {}).empty());
    EXPECT_TRUE(
        shares_of(kCeilings, {.records = 0, .bytes = 0, .write_s = 1, .create_s = 1}).empty());
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
