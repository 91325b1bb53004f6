#include "forecast/network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ranklab::forecast {
namespace {

constexpr Algorithm kBlocking[] = {Algorithm::ring, Algorithm::recursive_doubling};
constexpr Algorithm kTree[] = {Algorithm::tree};

// alpha + beta S, in seconds.
MeasuredLevel level(std::size_t ranks, std::size_t per_host, double alpha, double beta) {
    MeasuredLevel made{.on = {ranks, per_host}};
    for (double bytes = 8; bytes <= 1 << 22; bytes *= 2) {
        const double s = alpha + beta * bytes;
        made.messages.push_back({bytes, s, {0.9 * s, 1.1 * s}});
    }
    return made;
}

TEST(AllreduceCost, IsMeasuredAmongAsManyRanks) {
    const std::vector<MeasuredLevel> levels{level(2, 1, 1e-4, 1e-8), level(4, 1, 2e-4, 2e-8)};
    const auto cost = allreduce_cost(levels, 1 << 20, {4, 1}, kBlocking);
    EXPECT_EQ(cost.algorithm, Algorithm::measured);
    EXPECT_NEAR(cost.s, 2e-4 + 2e-8 * (1 << 20), 1e-12);
    EXPECT_NEAR(cost.range.high, 1.1 * cost.s, 1e-12);
    EXPECT_NEAR(allreduce_cost(levels, 1 << 23, {2, 1}, kBlocking).s, 1e-4 + 1e-8 * (1 << 23), 1e-9)
        << "beyond";
    EXPECT_EQ(allreduce_cost(levels, 100, {1, 1}, kBlocking).s, 0);
}

TEST(AllreduceCost, GrowsByTheFormulaOfTheAlgorithm) {
    const double alpha = 1e-4, beta = 1e-8;
    const std::vector<MeasuredLevel> levels{level(2, 1, alpha, beta)};
    const struct {
        double bytes;
        std::size_t ranks;
        std::span<const Algorithm> algorithms;
        Algorithm algorithm;
        double s;
    } cases[] = {
        {1 << 22, 8, kBlocking, Algorithm::ring, 7 * alpha + 1.75 * beta * (1 << 22)},
        {8, 8, kBlocking, Algorithm::recursive_doubling, 3 * (alpha + 8 * beta)},
        {1 << 18, 8, kTree, Algorithm::tree, 3 * (alpha + beta * (1 << 18))},
        {1 << 18, 5, kTree, Algorithm::tree, 3 * (alpha + beta * (1 << 18))},
    };
    for (const auto& one : cases) {
        const auto cost = allreduce_cost(levels, one.bytes, {one.ranks, 1}, one.algorithms);
        EXPECT_EQ(cost.algorithm, one.algorithm) << one.bytes << " B, " << one.ranks;
        EXPECT_NEAR(cost.s, one.s, 1e-9 * one.s) << one.bytes << " B, " << one.ranks;
        EXPECT_LT(cost.range.low, cost.s);
        EXPECT_GT(cost.range.high, cost.s);
    }
}

TEST(AllreduceCost, OfHostsWithSeveralRanksIsTheSumOfBothLevels) {
    const std::vector<MeasuredLevel> levels{level(4, 4, 1e-5, 1e-10), level(2, 1, 1e-4, 1e-8)};
    const double bytes = 1 << 20;
    const auto cost = allreduce_cost(levels, bytes, {8, 4}, kBlocking);
    EXPECT_EQ(cost.algorithm, Algorithm::hierarchical);
    EXPECT_NEAR(cost.s, 1.1e-4 + 1.01e-8 * bytes, 1e-12);
    EXPECT_TRUE(std::isnan(allreduce_cost({levels.data(), 1}, bytes, {8, 4}, kBlocking).s))
        << "no level between hosts";
    EXPECT_EQ(allreduce_cost(levels, bytes, {4, 4}, kBlocking).algorithm, Algorithm::measured);
}

TEST(AllreduceCost, InPiecesAddsThemUp) {
    const std::vector<MeasuredLevel> levels{level(2, 1, 1e-4, 1e-8)};
    const auto cost = in_pieces(levels, 1000, 256, {2, 1}, kTree);
    EXPECT_NEAR(cost.s, 3 * (1e-4 + 256e-8) + allreduce_cost(levels, 232, {2, 1}, kTree).s, 1e-12);
    EXPECT_NEAR(in_pieces(levels, 1024, 0, {2, 1}, kTree).s, 1e-4 + 1024e-8, 1e-12) << "whole";
}

}  // namespace
}  // namespace ranklab::forecast
