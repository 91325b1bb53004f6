#include "stats/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace ranklab::stats {
namespace {

std::vector<double> one_to(std::size_t n) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(n - i);  // unsorted on purpose
    return x;
}

// numpy.percentile([3.1, 0.2, 5.5, 4.4, 1.7, 9.9, 2.6], [0, 5, 25, 37.5, 50, 95, 99, 100])
TEST(Quantile, AgreesWithNumpy) {
    const std::vector<double> x{3.1, 0.2, 5.5, 4.4, 1.7, 9.9, 2.6};
    const std::vector<std::pair<double, double>> expected{
        {0, 0.2},   {0.05, 0.65}, {0.25, 2.15},  {0.375, 2.725},
        {0.5, 3.1}, {0.95, 8.58}, {0.99, 9.636}, {1, 9.9}};
    for (const auto& [q, value] : expected)
        EXPECT_NEAR(quantile(x, q), value, 1e-12) << "q = " << q;
}

TEST(Quantile, OfNothingOrNotANumberIsNaN) {
    EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
    EXPECT_TRUE(std::isnan(quantile(std::vector<double>{1, NAN, 2}, 0.5)));
    EXPECT_DOUBLE_EQ(quantile(std::vector<double>{7}, 0.99), 7);
}

// Ranks as in published tables of the 95 % order-statistic interval of the median.
TEST(MedianInterval, HasThePublishedRanks) {
    const std::vector<std::pair<std::size_t, std::pair<double, double>>> table{
        {6, {1, 6}},   {8, {1, 8}},   {9, {2, 8}},    {10, {2, 9}},   {12, {3, 10}},  {15, {4, 12}},
        {20, {6, 15}}, {25, {8, 18}}, {30, {10, 21}}, {50, {18, 33}}, {100, {40, 61}}};
    for (const auto& [n, ranks] : table) {
        const Interval interval = summarise(one_to(n)).ci95;
        // From 30 samples on the ends lie between these ranks and the next inner ones.
        EXPECT_EQ(interval.low == ranks.first, n < 30) << "n = " << n;
        EXPECT_EQ(std::floor(interval.low), ranks.first) << "n = " << n;
        EXPECT_EQ(std::ceil(interval.high), ranks.second) << "n = " << n;
        EXPECT_NEAR(interval.low + interval.high, static_cast<double>(n + 1), 1e-9) << "n = " << n;
    }
}

TEST(MedianInterval, DoesNotExistBelowSix) {
    for (std::size_t n = 0; n < 6; ++n) {
        EXPECT_TRUE(std::isnan(summarise(one_to(n)).ci95.low)) << n;
        EXPECT_TRUE(std::isnan(summarise(one_to(n)).ci95.high)) << n;
    }
}

// At large n the ranks are those of the normal approximation, n/2 -+ 1.96 sqrt(n)/2, within two.
TEST(MedianInterval, IsRightForAMillion) {
    for (const std::size_t n : {std::size_t{5000}, std::size_t{1000000}}) {
        const double half = 1.959964 * std::sqrt(static_cast<double>(n)) / 2;
        const Interval interval = summarise(one_to(n)).ci95;
        EXPECT_NEAR(interval.low, static_cast<double>(n) / 2 - half, 2);
        EXPECT_NEAR(interval.high, static_cast<double>(n) / 2 + half + 1, 2);
    }
}

// Below 30 samples the coverage is at least 95 %, from 30 on 95 %.
TEST(MedianInterval, CoversAsOftenAsItSays) {
    const std::vector<std::pair<std::size_t, double>> exact{{10, 0.9785}, {30, 0.95}, {100, 0.95}};
    std::mt19937_64 random(20261121);
    std::lognormal_distribution<double> draw(0.0, 1.0);  // median 1
    constexpr int kTrials = 1000;
    for (const auto& [n, coverage] : exact) {
        int covered = 0;
        for (int trial = 0; trial < kTrials; ++trial) {
            std::vector<double> x(n);
            for (double& value : x) value = draw(random);
            const Interval interval = summarise(x).ci95;
            covered += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
        }
        EXPECT_NEAR(static_cast<double>(covered) / kTrials, coverage, 0.03) << "n = " << n;
    }
}

TEST(Summarise, NothingGivesNaN) {
    const Summary summary = summarise({});
    EXPECT_EQ(summary.n, 0U);
    for (const double x : {summary.median, summary.mean, summary.min, summary.max, summary.p95,
                           summary.p99, summary.ci95.low, summary.ci95.high})
        EXPECT_TRUE(std::isnan(x));
}

TEST(Summarise, KnownSamples) {
    const Summary summary = summarise(one_to(100));
    EXPECT_EQ(summary.n, 100U);
    EXPECT_DOUBLE_EQ(summary.median, 50.5);
    EXPECT_DOUBLE_EQ(summary.mean, 50.5);
    EXPECT_DOUBLE_EQ(summary.min, 1);
    EXPECT_DOUBLE_EQ(summary.max, 100);
    EXPECT_DOUBLE_EQ(summary.p95, 95.05);
    EXPECT_DOUBLE_EQ(summary.p99, 99.01);
    // Hettmansperger & Sheather between ranks 40 (96.48 %) and 41 (94.31 %), by hand (Python's
    // comb).
    EXPECT_NEAR(summary.ci95.low, 40.763200616, 1e-8);
    EXPECT_NEAR(summary.ci95.high, 60.236799384, 1e-8);
}

TEST(Summarise, ANaNSampleIsCountedAndSpoilsTheRest) {
    const Summary summary = summarise(std::vector<double>{1, 2, NAN});
    EXPECT_EQ(summary.n, 3U);
    EXPECT_TRUE(std::isnan(summary.median));
    EXPECT_TRUE(std::isnan(summary.mean));
    EXPECT_TRUE(std::isnan(summary.max));
}

TEST(SummariseRate, MeanIsSumOverSum) {
    const std::vector<double> counts{64, 64, 32};
    const std::vector<double> costs{1, 4, 1};
    const Summary summary = summarise_rate(counts, costs);
    EXPECT_EQ(summary.n, 3U);
    EXPECT_DOUBLE_EQ(summary.mean, 160.0 / 6.0);  // not (64 + 16 + 32) / 3
    EXPECT_DOUBLE_EQ(summary.median, 32);
    EXPECT_DOUBLE_EQ(summary.max, 64);
    EXPECT_TRUE(std::isnan(summarise_rate({}, {}).mean));
}

TEST(LoadImbalance, IsMaxOverMeanMinusOne) {
    EXPECT_DOUBLE_EQ(load_imbalance(std::vector<double>{1, 2, 3}), 0.5);
    EXPECT_DOUBLE_EQ(load_imbalance(std::vector<double>{5}), 0);
    EXPECT_DOUBLE_EQ(load_imbalance(std::vector<double>{0, 0}), 0);
    EXPECT_TRUE(std::isnan(load_imbalance({})));
}

}  // namespace
}  // namespace ranklab::stats
