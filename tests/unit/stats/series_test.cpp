#include "stats/series.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "simulated.hpp"
#include "stats/distributions.hpp"
#include "stats/interval.hpp"

namespace ranklab::stats {
namespace {

using namespace simulated;

TEST(EstimateMedian, SeesASlowDriftOfALongSeries) {
    Random random(93);
    std::vector<double> x = normal(random, 300000, 1, 0.01);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] += 0.01 * std::sin(static_cast<double>(i) / 30000);
    const MedianEstimate estimate = estimate_median(x);
    EXPECT_STREQ(estimate.method, "long-run variance");
    EXPECT_LT(estimate.effective_n, 30000);
}

// Quartiles of 1 .. 9 are 3 and 7: the far-out fences are -9 and 19.
TEST(FarOut, BeyondThreeInterquartileRanges) {
    std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8, 9};
    Outliers found = outliers(x);
    EXPECT_DOUBLE_EQ(found.low_fence, -9);
    EXPECT_DOUBLE_EQ(found.high_fence, 19);
    EXPECT_EQ(found.count(), 0U);
    x.back() = 19;  // on the fence is not beyond it
    EXPECT_EQ(outliers(x).above, 0U);
    x.back() = 19.1;
    EXPECT_EQ(outliers(x).above, 1U);
    EXPECT_EQ(outliers(x).below, 0U);
    x.front() = -9.1;
    found = outliers(x);
    EXPECT_EQ(found.below, 1U);
    EXPECT_EQ(found.count(), 2U);
}

TEST(FarOut, NoneInNothing) {
    EXPECT_EQ(outliers({}).count(), 0U);
    EXPECT_TRUE(std::isnan(outliers({}).low_fence));
    EXPECT_TRUE(std::isnan(outliers(std::vector<double>{1, NAN}).high_fence));
    EXPECT_EQ(outliers(std::vector<double>(50, 1.0)).count(), 0U);
}

// The first `slow` steps take 1.5 times as long.
std::vector<double> settling(Random& random, std::size_t n, std::size_t slow) {
    std::vector<double> x = lognormal(random, n, 0.05);
    for (std::size_t i = 0; i < slow; ++i) x[i] *= 1.5;
    return x;
}

TEST(WarmupEnd, IsFoundWhereItIs) {
    Random random(71);
    for (int trial = 0; trial < 50; ++trial) {
        EXPECT_EQ(warmup_end(settling(random, 100, 10)), 10U);
        EXPECT_EQ(warmup_end(settling(random, 1000, 35)), 35U);
        const std::size_t between = warmup_end(settling(random, 300, 12));
        EXPECT_GE(between, 10U);
        EXPECT_LE(between, 15U);
    }
}

TEST(WarmupEnd, OfAGradualBeginning) {
    Random random(72);
    std::vector<double> x = lognormal(random, 400, 0.02);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += 2 * std::exp(-static_cast<double>(i) / 8);
    const std::size_t end = warmup_end(x);
    EXPECT_GE(end, 20U);  // 2 exp(-20/8) is 16 %
    EXPECT_LE(end, 60U);
}

TEST(WarmupEnd, IsSeldomSeenWhereThereIsNone) {
    for (const std::size_t n : {20U, 50U, 200U, 1000U})
        EXPECT_LE(
            per_cent(73, [&](Random& random) { return warmup_end(settling(random, n, 0)) > 0; }),
            5 + kAllowance)
            << "n = " << n;
}

TEST(WarmupEnd, OneSlowStepIsNone) {
    Random random(74);
    for (int trial = 0; trial < 50; ++trial) {
        std::vector<double> x = settling(random, 200, 10);
        x[random.index(x.size())] *= 20;
        const std::size_t end = warmup_end(x);
        EXPECT_GE(end, 10U);
        EXPECT_LE(end, 15U);
    }
}

TEST(WarmupEnd, ShortSeriesHaveNone) {
    std::vector<double> x(19, 1.0);
    x.front() = 100;
    EXPECT_EQ(warmup_end(x), 0U);
    EXPECT_EQ(warmup_end({}), 0U);
    EXPECT_EQ(warmup_end(std::vector<double>(100, 1.0)), 0U);
    EXPECT_EQ(warmup_end(std::vector<double>(100, NAN)), 0U);
}

// Tables of R: qnorm, qt, qchisq, pbinom.
TEST(Distributions, AgreeWithTables) {
    EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
    EXPECT_NEAR(normal_quantile(0.001), -3.090232306167813, 1e-10);
    EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
    EXPECT_NEAR(normal_cdf(1.6448536269514722), 0.95, 1e-12);
    EXPECT_NEAR(student_quantile(0.975, 4), 2.776445, 1e-6);
    EXPECT_NEAR(student_quantile(0.975, 10), 2.228139, 1e-6);
    EXPECT_NEAR(student_quantile(0.975, 60), 2.000298, 1e-6);
    EXPECT_NEAR(chi_square_quantile(0.2, 4), 1.648777, 1e-6);
    EXPECT_NEAR(chi_square_quantile(0.2, 8), 4.593574, 1e-6);
    EXPECT_NEAR(chi_square_quantile(0.2, 58), 48.7965276, 1e-6);
    EXPECT_EQ(binomial_rank(20, 0.5, 0.025).k, 6U);
    EXPECT_NEAR(binomial_rank(20, 0.5, 0.025).below, 0.0206947, 1e-7);
    EXPECT_EQ(binomial_rank(100, 0.9, 0.025).k, 84U);
}

// The generators that the simulations use.
TEST(RandomNumbers, HaveTheirMomentsAndAreReproducible) {
    Random random(81);
    double sum = 0, squares = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) {
        const double z = random.normal();
        sum += z;
        squares += z * z;
    }
    EXPECT_NEAR(sum / kDraws, 0, 0.03);
    EXPECT_NEAR(squares / kDraws, 1, 0.04);
    Random one(1), other(1);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(one.normal(), other.normal());
}

}  // namespace
}  // namespace ranklab::stats
