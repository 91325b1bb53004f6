#include <gtest/gtest.h>

#include "measure/gather.hpp"
#include "measure/series.hpp"
#include "mpi_world.hpp"

namespace ranklab::measure {
namespace {

using ranklab::testing::world;

TEST(Gather, ColumnsStandByRank) {
    const double rank = world().rank();
    const auto samples = gather_columns(world(), {rank, 10 + rank});
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
    EXPECT_EQ(sums_of_ranks(world(), {1, rank}), (std::vector<double>{last + 1, last * (last + 1) / 2}));
    EXPECT_TRUE(largest_of_ranks(world(), {}).empty());
}

// Value of row, column and rank, so that each place shows.
double value(std::size_t row, std::size_t column, std::size_t rank) {
    return 1000 * static_cast<double>(row) + 100 * static_cast<double>(column) + static_cast<double>(rank);
}

Spool spool_of(std::size_t rows, std::size_t columns) {
    Spool spool(columns);
    std::vector<double> row(columns);
    const auto rank = static_cast<std::size_t>(world().rank());
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) row[c] = value(r, c, rank);
        spool.push(row);
    }
    return spool;
}

// Values that are not in their place; all of a series that should be here and is not.
std::size_t misplaced(const RankSeries& series, std::size_t column) {
    std::size_t seen = 0, right = 0;
    series.visit(0, [&](std::span<const double> piece, std::size_t first) {
        for (std::size_t i = 0; i < piece.size(); ++i, ++seen)
            right += piece[i] == value(first + i / series.ranks(), column, i % series.ranks()) ? 1 : 0;
    });
    return series.rows() * series.ranks() - right + (seen - right);
}

TEST(Gather, SpoolsBringEveryColumnInItsPlaceOnEveryRank) {
    const auto gathered = gather_spools(world(), spool_of(50, 3));
    ASSERT_EQ(gathered.size(), 3U);
    for (std::size_t column = 0; column < 3; ++column) {
        EXPECT_TRUE(gathered[column].is_short());
        EXPECT_EQ(gathered[column].rows(), 50U);
        EXPECT_EQ(misplaced(gathered[column], column), 0U);
    }
    const auto sums = gathered[1].sums_over_rows(10);
    ASSERT_EQ(sums.size(), static_cast<std::size_t>(world().world_size()));
    EXPECT_DOUBLE_EQ(sums.front(), 40 * (1000 * 29.5 + 100));
    EXPECT_EQ(gathered[2].head(48, 10).rows(), 2U);
}

TEST(Gather, LongSpoolsAreOnRankZeroAlone) {
    const std::size_t rows = kMostHeldValues + 7;
    const auto gathered = gather_spools(world(), spool_of(rows, 2));
    ASSERT_EQ(gathered.size(), 2U);
    for (std::size_t column = 0; column < 2; ++column) {
        EXPECT_FALSE(gathered[column].is_short());
        EXPECT_EQ(gathered[column].rows(), rows);
        EXPECT_EQ(gathered[column].here(), world().rank() == 0);
        EXPECT_EQ(misplaced(gathered[column], column),
                  world().rank() == 0 ? 0U : rows * gathered[column].ranks());
    }
}

TEST(Gather, TheLargestAndTheSumsOfRanksAreTheSameOnAll) {
    const auto last = static_cast<std::size_t>(world().world_size() - 1);
    const auto largest = gather_largest(world(), spool_of(50, 3));
    const auto sums = gather_sums(world(), spool_of(50, 3), 1);
    double sum = 0;
    for (std::size_t rank = 0; rank <= last; ++rank) sum += value(7, 1, rank);
    EXPECT_EQ(largest[2].head(49, 1).values, (std::vector<double>{value(49, 2, last)}));
    EXPECT_EQ(sums.head(7, 1).values, (std::vector<double>{sum}));
}

TEST(Gather, NoStepsAreGatheredAsNone) {
    const auto gathered = gather_spools(world(), spool_of(0, 11));
    ASSERT_EQ(gathered.size(), 11U);
    EXPECT_EQ(gathered.front().rows(), 0U);
    EXPECT_EQ(gather_largest(world(), spool_of(0, 11)).front().rows(), 0U);
}

TEST(Series, ColumnsOfASpoolStandBesideEachOther) {
    const auto some = columns_of(spool_of(4, 5), 2, 2);
    EXPECT_EQ(some.ranks(), 2U);
    const double rank = world().rank();
    EXPECT_EQ(some.head(3, 1).values, (std::vector<double>{3200 + rank, 3300 + rank}));
}

}  // namespace
}  // namespace ranklab::measure
