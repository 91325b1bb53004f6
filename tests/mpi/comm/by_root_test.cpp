// Collectives by way of one rank: the same as the others.
#include "comm/by_root.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "mpi_world.hpp"

namespace ranklab::comm {
namespace {

using ranklab::testing::world;

TEST(ByRoot, AGatherHasAllPartsOnTheRootAlone) {
    for (int root = 0; root < world().world_size(); ++root) {
        const std::vector<std::int64_t> mine{world().rank(), 10 * world().rank()};
        std::vector<std::int64_t> all(world().rank() == root ? 2 * world().world_size() : 0);
        gather(world(), view(std::span(mine)), view(std::span(all)), root);
        for (std::size_t i = 0; i < all.size(); ++i)
            EXPECT_EQ(all[i], static_cast<std::int64_t>(i / 2 * (i % 2 == 0 ? 1 : 10)));
    }
}

TEST(ByRoot, AllHearWhatARootGathered) {
    const std::int64_t mine = world().rank() + 1;
    std::vector<std::int64_t> all(world().world_size());
    gather_to_all(world(), view(std::span(&mine, 1)), view(std::span(all)));
    std::vector<std::int64_t> expected(all.size());
    std::iota(expected.begin(), expected.end(), 1);
    EXPECT_EQ(all, expected);
}

TEST(ByRoot, AReductionIsThatOfAllRanks) {
    std::vector<std::int64_t> values{world().rank(), -world().rank()};
    reduce_to_all(world(), view(std::span(values)), ReduceOp::max);
    EXPECT_EQ(values, (std::vector<std::int64_t>{world().world_size() - 1, 0}));
}

TEST(ByRoot, TextsAreOnTheRootAlone) {
    const auto text_of = [](int rank) { return std::string(static_cast<std::size_t>(3 * rank), 'x') + '\0'; };
    for (int root = 0; root < world().world_size(); ++root) {
        const auto texts = texts_at(world(), text_of(world().rank()), root);
        ASSERT_EQ(texts.size(), world().rank() == root ? static_cast<std::size_t>(world().world_size()) : 0U);
        for (std::size_t rank = 0; rank < texts.size(); ++rank)
            EXPECT_EQ(texts[rank], text_of(static_cast<int>(rank)));
    }
    EXPECT_EQ(texts_at(world(), "", 0).size(), world().rank() == 0 ? world().world_size() : 0U);
}

TEST(ByRoot, TextsAreTheSameOrNot) {
    EXPECT_TRUE(is_same_everywhere(world(), "ranklab io --steps 3"));
    EXPECT_TRUE(is_same_everywhere(world(), ""));
    const bool alone = world().world_size() == 1;
    EXPECT_EQ(is_same_everywhere(world(), world().rank() == 0 ? "a" : "b"), alone);
    EXPECT_EQ(is_same_everywhere(world(), std::string(200, static_cast<char>('a' + world().rank()))), alone);
}

TEST(ByRoot, ASplitPartKnowsWhoIsOnItsNode) {
    const auto part = world().split(world().rank() % 2, world().rank());
    EXPECT_EQ(part->local_size(), part->world_size()) << "these tests are of one node";
    EXPECT_EQ(part->local_rank(), part->rank());
    const auto backwards = world().split(0, -world().rank());
    EXPECT_EQ(backwards->local_rank(), backwards->rank());
    EXPECT_EQ(backwards->rank(), world().world_size() - 1 - world().rank());
}

}  // namespace
}  // namespace ranklab::comm
