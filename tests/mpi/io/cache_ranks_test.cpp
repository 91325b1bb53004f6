// One cache label from the evidence of several ranks.
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "io/cache_label.hpp"
#include "mpi_world.hpp"

namespace ranklab::io {
namespace {

using testing::world;

constexpr std::uint64_t kMiB = 1 << 20;

CacheEvidence cold_part() {
    return {{"ext4", base::FileSystemKind::disk}, 10 * kMiB, Residency{10 * kMiB, 0}, 10 * kMiB};
}

CacheEvidence over_ranks(const CacheEvidence& mine) {
    return merged_over_ranks(world(), {mine}).front();
}

bool is_last() {
    return world().rank() == world().world_size() - 1;
}

TEST(CacheOverRanks, AllRanksGetTheSum) {
    const auto all = over_ranks(cold_part());
    const auto ranks = static_cast<std::uint64_t>(world().world_size());
    EXPECT_EQ(all.requested, 10 * kMiB * ranks);
    ASSERT_TRUE(all.before && all.delivered);
    EXPECT_EQ(all.before->bytes, 10 * kMiB * ranks);
    EXPECT_EQ(*all.delivered, 10 * kMiB * ranks);
    EXPECT_EQ(all.file_system.name, "ext4");
    EXPECT_EQ(label_of(all).text, "cold");
}

TEST(CacheOverRanks, OneWarmRankMakesItMixed) {
    auto mine = cold_part();
    if (is_last()) {
        mine.before->resident = 10 * kMiB;
        mine.delivered = 0;
    }
    const auto text = label_of(over_ranks(mine)).text;
    const int ranks = world().world_size();
    EXPECT_EQ(text, ranks == 1 ? "warm" : "mixed " + std::to_string(100 / ranks) + " %");
}

TEST(CacheOverRanks, WhatOneRankDoesNotKnowNobodyKnows) {
    auto mine = cold_part();
    if (is_last()) mine.before.reset();
    const auto no_residency = over_ranks(mine);
    EXPECT_FALSE(no_residency.before);
    EXPECT_EQ(label_of(no_residency).text, "unknown");
    mine = cold_part();
    if (is_last()) mine.delivered.reset();
    EXPECT_FALSE(over_ranks(mine).delivered);
}

TEST(CacheOverRanks, ARankInMemoryIsNamedByAll) {
    auto mine = cold_part();
    if (is_last()) mine.file_system = {"tmpfs", base::FileSystemKind::memory};
    EXPECT_EQ(label_of(over_ranks(mine)).text, "memory (tmpfs)");
}

TEST(CacheOverRanks, EachReadHasItsOwn) {
    auto second = cold_part();
    second.file_system = {is_last() ? "nfs" : "xfs",
                          is_last() ? base::FileSystemKind::network : base::FileSystemKind::disk};
    second.requested = 1;
    if (is_last()) second.before.reset();
    const auto all = merged_over_ranks(world(), {cold_part(), second, CacheEvidence{}});
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].file_system.name, "ext4");
    EXPECT_TRUE(all[0].before);
    EXPECT_EQ(all[1].file_system.name, "nfs");
    EXPECT_EQ(all[1].requested, static_cast<std::uint64_t>(world().world_size()));
    EXPECT_FALSE(all[1].before);
    EXPECT_TRUE(all[1].delivered);
    EXPECT_EQ(all[2].file_system.name, "");
    EXPECT_TRUE(merged_over_ranks(world(), {}).empty());
}

TEST(CacheOverRanks, RanksThatReadNothingChangeNothing) {
    const auto all = over_ranks(world().rank() == 0 ? cold_part() : CacheEvidence{});
    EXPECT_EQ(label_of(all).text, "cold");
    EXPECT_EQ(all.file_system.name, "ext4");
}

}  // namespace
}  // namespace ranklab::io
