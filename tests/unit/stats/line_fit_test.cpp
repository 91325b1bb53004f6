#include "stats/interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ranklab::stats {
namespace {

std::vector<LinePoint> line(double alpha, double beta, double noise = 0) {
    std::vector<LinePoint> points;
    double sign = 1;
    for (double x = 8; x <= 4194304; x *= 2, sign = -sign)
        points.push_back({x, (alpha + beta * x) * (1 + sign * noise)});
    return points;
}

TEST(LineFit, FindsWhatMadeThePoints) {
    const auto fit = fit_line(line(2.5, 8e-3));
    EXPECT_NEAR(fit.alpha, 2.5, 1e-9);
    EXPECT_NEAR(fit.beta, 8e-3, 1e-12);
    EXPECT_LT(fit.worst, 1e-9);
    EXPECT_EQ(fit.n, 20U);
}

TEST(LineFit, IntervalsHoldTheTruth) {
    const auto fit = fit_line(line(2.5, 8e-3, 0.05));
    EXPECT_LT(fit.alpha_ci.low, 2.5);
    EXPECT_GT(fit.alpha_ci.high, 2.5);
    EXPECT_LT(fit.beta_ci.low, 8e-3);
    EXPECT_GT(fit.beta_ci.high, 8e-3);
    EXPECT_GT(fit.worst, 0.04);
}

TEST(LineFit, NeitherCoefficientIsNegative) {
    const std::vector<LinePoint> falling{{1, 10}, {10, 5}, {100, 1}};
    const auto fit = fit_line(falling);
    EXPECT_EQ(fit.beta, 0);
    EXPECT_GT(fit.alpha, 0);
    const std::vector<LinePoint> below{{10, 1}, {20, 30}, {40, 90}};
    EXPECT_EQ(fit_line(below).alpha, 0);
    EXPECT_GT(fit_line(below).beta, 0);
}

TEST(LineFit, NeedsTwoSizes) {
    EXPECT_TRUE(std::isnan(fit_line({}).alpha));
    const std::vector<LinePoint> one{{8, 1}, {8, 2}};
    EXPECT_TRUE(std::isnan(fit_line(one).beta));
    const std::vector<LinePoint> two{{8, 1}, {16, 2}};
    EXPECT_FALSE(std::isnan(fit_line(two).beta));
    EXPECT_TRUE(std::isnan(fit_line(two).beta_ci.low)) << "two points lie on any line";
}

}  // namespace
}  // namespace ranklab::stats
