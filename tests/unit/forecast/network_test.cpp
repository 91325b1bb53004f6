#include "forecast/step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

namespace ranklab::forecast {
namespace {

// alpha + beta S, in seconds.
AllreduceCurve line(double alpha, double beta) {
    AllreduceCurve curve;
    for (double bytes = 8; bytes <= 1 << 22; bytes *= 2) {
        const double s = alpha + beta * bytes;
        curve[bytes] = {s, {0.9 * s, 1.1 * s}};
    }
    return curve;
}

MeasuredNetwork blocking(std::map<Placement, AllreduceCurve> levels) {
    return {{Algorithm::ring, Algorithm::recursive_doubling}, std::move(levels)};
}

TEST(AllreduceTime, IsMeasuredAmongAsManyRanks) {
    const auto network = blocking({{{2, 1}, line(1e-4, 1e-8)}, {{4, 1}, line(2e-4, 2e-8)}});
    const auto time = allreduce_time(network, 1 << 20, {4, 1});
    EXPECT_EQ(time.algorithm, Algorithm::measured);
    EXPECT_NEAR(time.s, 2e-4 + 2e-8 * (1 << 20), 1e-12);
    EXPECT_NEAR(time.range.high, 1.1 * time.s, 1e-12);
    EXPECT_NEAR(allreduce_time(network, 1 << 24, {2, 1}).s, 1e-4 + 1e-8 * (1 << 24), 1e-9)
        << "beyond";
    EXPECT_TRUE(std::isnan(allreduce_time(network, (1 << 24) + 1, {2, 1}).s)) << "too far beyond";
    EXPECT_EQ(allreduce_time(network, 1, {2, 1}).s, 1e-4 + 8e-8) << "below";
    EXPECT_EQ(allreduce_time(network, 100, {1, 1}).s, 0);
}

TEST(AllreduceTime, GrowsByTheFormulaOfTheAlgorithm) {
    const double alpha = 1e-4, beta = 1e-8;
    const auto calls = blocking({{{2, 1}, line(alpha, beta)}});
    const MeasuredNetwork background{{Algorithm::tree}, calls.levels};
    const struct {
        double bytes;
        std::size_t ranks;
        const MeasuredNetwork& network;
        Algorithm algorithm;
        double s;
    } cases[] = {
        {1 << 22, 8, calls, Algorithm::ring, 7 * alpha + 1.75 * beta * (1 << 22)},
        {8, 8, calls, Algorithm::recursive_doubling, 3 * (alpha + 8 * beta)},
        {1 << 18, 8, background, Algorithm::tree, 3 * (alpha + beta * (1 << 18))},
        {1 << 18, 5, background, Algorithm::tree, 3 * (alpha + beta * (1 << 18))},
    };
    for (const auto& one : cases) {
        const auto time = allreduce_time(one.network, one.bytes, {one.ranks, 1});
        EXPECT_EQ(time.algorithm, one.algorithm) << one.bytes << " B, " << one.ranks;
        EXPECT_NEAR(time.s, one.s, 1e-9 * one.s) << one.bytes << " B, " << one.ranks;
        EXPECT_LT(time.range.low, time.s);
        EXPECT_GT(time.range.high, time.s);
    }
}

TEST(AllreduceTime, OfHostsWithSeveralRanksIsTheSumOfBothLevels) {
    auto network = blocking({{{4, 4}, line(1e-5, 1e-10)}, {{2, 1}, line(1e-4, 1e-8)}});
    const double bytes = 1 << 20;
    const auto time = allreduce_time(network, bytes, {8, 4});
    EXPECT_EQ(time.algorithm, Algorithm::hierarchical);
    EXPECT_NEAR(time.s, 1.1e-4 + 1.01e-8 * bytes, 1e-12);
    EXPECT_EQ(allreduce_time(network, bytes, {4, 4}).algorithm, Algorithm::measured);
    network.levels.erase({2, 1});
    EXPECT_TRUE(std::isnan(allreduce_time(network, bytes, {8, 4}).s)) << "no level between hosts";
}

TEST(AllreduceTime, InPiecesAddsThemUp) {
    const auto network = blocking({{{2, 1}, line(1e-4, 1e-8)}});
    const auto time = in_pieces(network, 1000, 256, {2, 1});
    EXPECT_NEAR(time.s, 3 * (1e-4 + 256e-8) + allreduce_time(network, 232, {2, 1}).s, 1e-12);
    EXPECT_NEAR(in_pieces(network, 1024, HUGE_VAL, {2, 1}).s, 1e-4 + 1024e-8, 1e-12) << "whole";
}

}  // namespace
}  // namespace ranklab::forecast
