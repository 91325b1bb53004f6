#include "stats/distributions.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "simulated.hpp"
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
