#include <gtest/gtest.h>

#include "measure/samples.hpp"
#include "mpi_world.hpp"

namespace ranklab::measure {
namespace {

using ranklab::testing::world;

TEST(Gather, ColumnsStandByRank) {
    const double rank = world().rank();
    const auto samples = gather_columns(world(), std::vector<double>{rank, 10 + rank});
    const auto ranks = static_cast<std::size_t>(world().world_size());
    EXPECT_EQ(samples.ranks, ranks);
    EXPECT_EQ(samples.rows(), 2U);
    for (std::size_t r = 0; r < ranks && samples.rows() == 2; ++r) {
        EXPECT_EQ(samples.at(0, r), static_cast<double>(r));
        EXPECT_EQ(samples.at(1, r), 10.0 + static_cast<double>(r));
    }
}

TEST(Gather, NoRowsAreGatheredAsNone) {
    EXPECT_EQ(gather_columns(world(), {}).rows(), 0U);
}

TEST(Gather, AColumnIsReducedToItsLargestAndItsSums) {
    const double rank = world().rank();
    const double last = world().world_size() - 1;
    EXPECT_EQ(largest_of_ranks(world(), {rank, -rank, 7}), (std::vector<double>{last, 0, 7}));
    EXPECT_EQ(sums_of_ranks(world(), {1, rank}),
              (std::vector<double>{last + 1, last * (last + 1) / 2}));
    EXPECT_TRUE(largest_of_ranks(world(), {}).empty());
}

TEST(Gather, LongColumnsArriveWholeInPieces) {
    constexpr std::size_t kRows = 100003;
    const auto ranks = static_cast<std::size_t>(world().world_size());
    std::vector<double> mine(kRows);
    for (std::size_t row = 0; row < kRows; ++row)
        mine[row] = static_cast<double>(10 * row) + world().rank();
    const auto all = gather_samples(world(), mine, ranks);
    EXPECT_EQ(all.ranks, world().rank() == 0 ? ranks : 1U);
    ASSERT_EQ(all.rows(), kRows);
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < kRows; ++row)
        for (std::size_t rank = 0; rank < all.ranks; ++rank) {
            const auto of = static_cast<double>(world().rank() == 0 ? rank : ranks - 1);
            wrong += all.at(row, rank) == static_cast<double>(10 * row) + of ? 0 : 1;
        }
    EXPECT_EQ(wrong, 0U);
    const auto sums = ordered_sums_of_ranks(world(), mine);
    ASSERT_EQ(sums.size(), kRows);
    const auto n = static_cast<double>(ranks);
    EXPECT_EQ(sums.back(), n * static_cast<double>(10 * (kRows - 1)) + n * (n - 1) / 2);
}

}  // namespace
}  // namespace ranklab::measure
