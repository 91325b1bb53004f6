#include "measure/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "many_ranks.hpp"

namespace ranklab::measure {
namespace {

using ranklab::testing::ManyRanks;
using ::testing::ElementsAre;

constexpr int kRanks = 10000;
constexpr std::size_t kPiece = std::size_t{1} << 18U;  // bytes

std::vector<double> one_to(std::size_t n) {
    std::vector<double> x(n);
    std::iota(x.begin(), x.end(), 1.0);
    return x;
}

TEST(RankSamples, StandRowByRow) {
    const RankSamples samples{2, {1, 4, 6, 2, 3, 3}};
    EXPECT_EQ(samples.rows(), 3U);
    EXPECT_EQ(samples.at(1, 0), 6);
    EXPECT_EQ((RankSamples{3, {}}).rows(), 0U);
}

TEST(TenThousandRanks, AreGatheredInPieces) {
    ManyRanks job(kRanks, ManyRanks::add_rank);
    const auto all = gather_columns(job, one_to(40));
    EXPECT_EQ(all.ranks, std::size_t{kRanks});
    ASSERT_EQ(all.rows(), 40U);
    EXPECT_EQ(all.at(39, 77), 40 + 77);
    EXPECT_LE(job.largest, kPiece);
    EXPECT_EQ(job.bytes, std::size_t{40} * kRanks * sizeof(double));
}

TEST(TenThousandRanks, AreReducedToTheirMaximaInTheSizeOfOne) {
    ManyRanks job(kRanks, ManyRanks::add_rank);
    const auto largest = largest_of_ranks(job, one_to(50));
    EXPECT_EQ(largest[7], 8 + kRanks - 1);
    EXPECT_EQ(job.bytes, 50 * sizeof(double));
}

TEST(TenThousandRanks, AreAddedUpInTheirOrder) {
    ManyRanks job(kRanks, ManyRanks::add_rank);
    const auto sums = ordered_sums_of_ranks(job, one_to(20));
    ASSERT_EQ(sums.size(), 20U);
    EXPECT_EQ(sums[3], kRanks * 4.0 + kRanks * (kRanks - 1.0) / 2);
}

TEST(GatherSamples, RankZeroHasTheColumnsAndOthersTheirMaxima) {
    for (const int rank : {0, 2}) {
        ManyRanks job(
            4,
            [rank](int other, comm::BufferView part) { ManyRanks::add_rank(other - rank, part); },
            rank);
        const auto all = gather_samples(job, std::vector<double>{10.0 + rank, 20.0 + rank}, 3);
        EXPECT_EQ(all.ranks, rank == 0 ? 3U : 1U);
        if (rank == 0)
            EXPECT_THAT(all.values, ElementsAre(10, 11, 12, 20, 21, 22));
        else
            EXPECT_THAT(all.values, ElementsAre(12, 22)) << "the fourth does not count";
    }
}

TEST(GatherSamples, OfNoRowsAreNone) {
    ManyRanks job(3);
    EXPECT_EQ(gather_samples(job, {}, 3).rows(), 0U);
    EXPECT_EQ(gather_columns(job, {}).rows(), 0U);
    EXPECT_TRUE(ordered_sums_of_ranks(job, {}).empty());
}

}  // namespace
}  // namespace ranklab::measure
