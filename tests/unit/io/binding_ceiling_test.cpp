#include "io/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ranklab::io {
namespace {

using ::testing::HasSubstr;

// 1000 bytes/s of memory, 100 to own files, 50 to a shared one, 10 files/s.
const Ceilings kCeilings{{2000, 2}, {300, 3}, {100, 2}, {10, 1}};

TEST(BindingCeiling, LargeRecordsAreBoundByWriting) {
    const auto bound = binding_ceiling(kCeilings, {.records = 2, .bytes = 800, .write_s = 10, .create_s = 1});
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->kind, CeilingKind::write_own);
    EXPECT_DOUBLE_EQ(bound->ceiling_s, 8);
    EXPECT_DOUBLE_EQ(bound->strategy_s, 10);
    EXPECT_DOUBLE_EQ(bound->percent, 80);
}

TEST(BindingCeiling, SmallRecordsAreBoundByCreation) {
    const auto bound = binding_ceiling(kCeilings, {.records = 50, .bytes = 100, .write_s = 3, .create_s = 8});
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->kind, CeilingKind::create);
    EXPECT_DOUBLE_EQ(bound->ceiling_s, 5);
    EXPECT_DOUBLE_EQ(bound->percent, 62.5);
}

TEST(BindingCeiling, ASharedFileIsBoundByPwrite) {
    const StrategyEffort strategy{
        .records = 5000, .bytes = 100, .shared_file = true, .write_s = 2.5, .create_s = 9};
    const auto bound = binding_ceiling(kCeilings, strategy);
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->kind, CeilingKind::write_shared);
    EXPECT_DOUBLE_EQ(bound->ceiling_s, 2);
    EXPECT_DOUBLE_EQ(bound->percent, 80);
    EXPECT_FALSE(share_of_ceiling(CeilingKind::write_own, kCeilings, strategy));
    EXPECT_FALSE(share_of_ceiling(CeilingKind::create, kCeilings, strategy));
}

TEST(BindingCeiling, MemoryBindsWhereWritingIsNotTheSlower) {
    const Ceilings ceilings{{100, 1}, {1000, 1}, {}, {}};
    const auto bound = binding_ceiling(ceilings, {.records = 1, .bytes = 100, .write_s = 2, .create_s = 1});
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->kind, CeilingKind::memory_copy);
    EXPECT_DOUBLE_EQ(bound->percent, 50);
}

TEST(BindingCeiling, EachKindByItself) {
    const StrategyEffort strategy{.records = 2, .bytes = 800, .write_s = 10, .create_s = 1};
    EXPECT_DOUBLE_EQ(share_of_ceiling(CeilingKind::memory_copy, kCeilings, strategy)->percent, 8);
    EXPECT_DOUBLE_EQ(share_of_ceiling(CeilingKind::create, kCeilings, strategy)->percent, 20);
    EXPECT_FALSE(share_of_ceiling(CeilingKind::write_shared, kCeilings, strategy));
}

TEST(BindingCeiling, AShareAbove105PerCentIsMarked) {
    const auto share = [](double write_s, int workers = 1) {
        return *binding_ceiling(
            kCeilings, {.records = 1, .bytes = 800, .write_s = write_s, .create_s = 1, .workers = workers});
    };
    EXPECT_DOUBLE_EQ(share(4).percent, 200) << "it is not hidden";
    EXPECT_EQ(share(4).mark, "200.0 % of raw write(): a ceiling that does not bind");
    EXPECT_THAT(share(4, 3).mark, HasSubstr("it is of one process"));
    EXPECT_EQ(share(8 / 1.04).mark, "") << "104 %: the noise of two measurements";
    EXPECT_NE(share(8 / 1.06).mark, "");
    EXPECT_EQ(share(10).mark, "");
}

TEST(BindingCeiling, WhatIsNotKnownBindsNothing) {
    EXPECT_FALSE(binding_ceiling({}, {.records = 2, .bytes = 800, .write_s = 10, .create_s = 1}));
    EXPECT_FALSE(binding_ceiling(kCeilings, {}));
    EXPECT_FALSE(binding_ceiling(kCeilings, {.records = 0, .bytes = 0, .write_s = 1, .create_s = 1}));
}

TEST(BindingCeiling, TheBestOfSeveralIsTakenKindByKind) {
    // bytes/s 2000, 1000, 4000; of write_own one is not known, of create none.
    const std::vector<Ceilings> measured{{{2000, 1}, {300, 3}, {100, 2}, {}},
                                         {{1000, 1}, {}, {50, 2}, {}},
                                         {{8000, 2}, {100, 0.5}, {80, 1}, {}}};
    const Ceilings best = best_of(measured);
    EXPECT_DOUBLE_EQ(best.memory_copy.per_second(), 4000);
    EXPECT_DOUBLE_EQ(best.write_own.per_second(), 200);
    EXPECT_DOUBLE_EQ(best.write_shared.per_second(), 80);
    EXPECT_FALSE(best.create.known());
    EXPECT_FALSE(best_of({}).memory_copy.known());
}

TEST(BindingCeiling, EveryKindHasItsName) {
    EXPECT_EQ(name_of(CeilingKind::memory_copy), "memory copy");
    EXPECT_EQ(name_of(CeilingKind::write_own), "raw write()");
    EXPECT_EQ(name_of(CeilingKind::write_shared), "raw pwrite()");
    EXPECT_EQ(name_of(CeilingKind::create), "file creation");
}

}  // namespace
}  // namespace ranklab::io
