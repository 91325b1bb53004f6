#include "stats/interval.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "simulated.hpp"

namespace ranklab::stats {
namespace {

using namespace simulated;

bool holds(const Interval& interval, double value) {
    return interval.low <= value && value <= interval.high;
}

TEST(EstimateMedian, CoversIndependentSamples) {
    for (const std::size_t n : {30U, 31U, 32U, 33U, 35U, 40U, 45U, 50U, 60U, 100U, 200U, 1000U}) {
        const double covered = per_cent(n, [&](Random& random) {
            return holds(estimate_median(lognormal(random, n, 1)).ci, 1);
        });
        EXPECT_GE(covered, 93 - kAllowance) << "n = " << n;
        // A short series cannot exclude that its samples depend on each other.
        EXPECT_LE(covered, (n < 200 ? 98.5 : 97) + kAllowance) << "n = " << n;
    }
}

// Student's t at 2 degrees of freedom: 4.3027.
TEST(MeanInterval, IsStudents) {
    const auto [low, high] = mean_interval(std::vector<double>{1, 2, 3});
    EXPECT_NEAR(low, 2 - 4.302653 / std::sqrt(3.0), 1e-6);
    EXPECT_NEAR(high, 2 + 4.302653 / std::sqrt(3.0), 1e-6);
    EXPECT_TRUE(std::isnan(mean_interval(std::vector<double>{1}).low));
}

enum class Kind { normal, lognormal, outliers };

// AR(1) series of median 1.
std::vector<double> series(Random& random, Kind kind, std::size_t n, double phi) {
    std::vector<double> x = lognormal(random, n, 1, phi);
    if (kind == Kind::lognormal) return x;
    for (double& value : x) {
        value = 1 + 0.05 * std::log(value);
        if (kind == Kind::outliers && random.uniform() < 0.05)
            value += random.uniform() < 0.5 ? 0.5 : -0.5;
    }
    return x;
}

// Levels of the four quarters that vary as much as the samples around them.
std::vector<double> quarters(Random& random, std::size_t n) {
    std::vector<double> x = normal(random, n, 1, 0.02);
    const std::vector<double> levels = normal(random, 4, 0, 0.02);
    for (std::size_t i = 0; i < n; ++i) x[i] += levels[4 * i / n];
    return x;
}

// docs/measurement.md has the coverage by more simulations.
TEST(EstimateMedian, CoversShortSeries) {
    for (const std::size_t n : {10U, 12U, 15U, 17U, 20U, 25U, 30U, 40U, 49U, 50U, 70U, 100U})
        for (const Kind kind : {Kind::normal, Kind::lognormal, Kind::outliers})
            for (const double phi : {0.0, 0.3, 0.5, 0.8}) {
                const double covered = per_cent(100 * n, [&](Random& random) {
                    return holds(estimate_median(series(random, kind, n, phi)).ci, 1);
                });
                const double least = phi < 0.8 ? 93 : kind == Kind::outliers ? 87 : 90;
                EXPECT_GE(covered, least - kAllowance) << n << " phi " << phi << " " << int(kind);
            }
}

// Prints the table of docs/measurement.md: stats_slow_test --gtest_also_run_disabled_tests
// --gtest_filter=*PrintsCoverage
TEST(EstimateMedian, DISABLED_PrintsCoverage) {
    constexpr std::size_t kTimes = 4000;
    for (const std::size_t n : {10U, 15U, 20U, 30U, 40U, 50U, 100U, 200U}) {
        const auto covered = [&](auto draw) {
            return std::lround(per_cent(
                n, [&](Random& random) { return holds(estimate_median(draw(random)).ci, 1); },
                kTimes));
        };
        std::printf("| %zu |", n);
        for (const double phi : {0.0, 0.3, 0.5, 0.8}) {
            const auto of = [&](Kind kind) {
                return covered([&](Random& random) { return series(random, kind, n, phi); });
            };
            std::printf(" %ld (%ld) |", of(Kind::lognormal), of(Kind::outliers));
        }
        std::printf(" %ld |\n", covered([&](Random& random) { return quarters(random, n); }));
    }
}

TEST(EstimateMedian, CoversQuartersOfDifferentLevel) {
    for (const std::size_t n : {12U, 20U, 40U, 100U})
        EXPECT_GE(per_cent(n,
                           [&](Random& random) {
                               return holds(estimate_median(quarters(random, n)).ci, 1);
                           }),
                  87 - kAllowance)
            << n;
}

// What the dependence that samples might have costs those that have none.
TEST(EstimateMedian, IsLittleWiderForIndependentSamples) {
    for (const std::size_t n : {10U, 15U, 20U, 30U, 50U, 100U, 1000U}) {
        Random random(n);
        std::vector<double> widths, independent;
        for (int i = 0; i < 400; ++i) {
            const auto x = series(random, Kind::normal, n, 0);
            const auto ci = estimate_median(x).ci, ordinary = summarise(x).ci95;
            widths.push_back(ci.high - ci.low);
            independent.push_back(ordinary.high - ordinary.low);
        }
        EXPECT_LE(summarise(widths).median, 1.3 * summarise(independent).median) << n;
        if (n >= 20) {
            EXPECT_LE(summarise(widths).mean, 1.3 * summarise(independent).mean) << n;
        }
    }
}

// Samples that lie on one side of the truth reach it beyond their ends, on a scale that keeps times
// above 0.
TEST(EstimateMedian, ReachesBeyondItsSamples) {
    std::vector<double> rising(12);
    for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = 1 + static_cast<double>(i);
    const auto ci = estimate_median(rising).ci;
    EXPECT_GT(ci.low, 0);
    EXPECT_LT(ci.low, 1);
    EXPECT_GT(ci.high, 12);
    for (double& value : rising) value -= 6;
    EXPECT_LT(estimate_median(rising).ci.low, -5);
}

TEST(EstimateMedian, CoversCorrelatedSeries) {
    for (const double phi : {0.1, 0.3, 0.5}) {
        const double covered = per_cent(77, [&](Random& random) {
            return holds(estimate_median(lognormal(random, 1000, 0.3, phi)).ci, 1);
        });
        EXPECT_GE(covered, 93 - kAllowance) << "phi = " << phi;
        EXPECT_LE(covered, 97 + kAllowance) << "phi = " << phi;
    }
}

// The interval of independent samples, for the same series.
TEST(EstimateMedian, TheOrdinaryIntervalDoesNotCoverCorrelatedSeries) {
    EXPECT_LT(per_cent(77,
                       [](Random& random) {
                           return holds(summarise(lognormal(random, 1000, 0.3, 0.5)).ci95, 1);
                       }),
              85 + kAllowance);
}

TEST(EstimateMedian, BelowSixThereIsNoInterval) {
    Random random(3);
    for (std::size_t n = 0; n < 6; ++n) {
        const MedianEstimate estimate = estimate_median(lognormal(random, n, 1));
        EXPECT_TRUE(std::isnan(estimate.ci.low)) << n;
        EXPECT_TRUE(std::isnan(estimate.ci.high)) << n;
        EXPECT_STREQ(estimate.method, "") << n;
        EXPECT_EQ(std::isnan(estimate.value), n == 0);
        EXPECT_TRUE(std::isnan(relative_half_width(estimate)));
    }
    EXPECT_FALSE(std::isnan(estimate_median(lognormal(random, 6, 1)).ci.low));
}

TEST(EstimateMedian, SaysByWhichMethod) {
    Random random(4);
    EXPECT_STREQ(estimate_median(lognormal(random, 9, 0.1)).method, "order statistics");
    EXPECT_STREQ(estimate_median(lognormal(random, 500, 0.1, 0.5)).method, "long-run variance");
}

TEST(EstimateMedian, EqualSamplesHaveAnIntervalOfNoWidth) {
    const MedianEstimate estimate = estimate_median(std::vector<double>(40, 2.5));
    EXPECT_EQ(estimate.ci.low, 2.5);
    EXPECT_EQ(estimate.ci.high, 2.5);
    EXPECT_EQ(relative_half_width(estimate), 0);
    EXPECT_TRUE(std::isnan(estimate.lag1));
    EXPECT_EQ(estimate.effective_n, 40);
}

TEST(EstimateMedian, NotANumberSpoilsIt) {
    const MedianEstimate estimate = estimate_median(std::vector<double>{1, 2, NAN, 4, 5, 6, 7});
    EXPECT_TRUE(std::isnan(estimate.value));
    EXPECT_TRUE(std::isnan(estimate.ci.low));
    EXPECT_TRUE(std::isnan(estimate.lag1));
}

TEST(RelativeHalfWidth, IsOfTheLongerSide) {
    MedianEstimate estimate;
    estimate.value = 10;
    estimate.ci = {9.5, 12};
    EXPECT_DOUBLE_EQ(relative_half_width(estimate), 0.2);
    estimate.value = 0;
    EXPECT_TRUE(std::isnan(relative_half_width(estimate)));
}

TEST(Dependence, FindsTheCorrelationAndTheEffectiveNumber) {
    // "Above the median" of a Gaussian AR(1) has the autocorrelation (2/pi) asin(phi^k). The
    // effective number is n / (1 + 2 sum).
    const auto effective = [](double phi, double n) {
        double sum = 0;
        for (int k = 1; k < 60; ++k) sum += 2 / M_PI * std::asin(std::pow(phi, k));
        return n / (1 + 2 * sum);
    };
    for (const double phi : {0.3, 0.5, 0.8}) {
        Random random(5);
        const MedianEstimate found = estimate_median(lognormal(random, 100000, 1, phi));
        EXPECT_NEAR(found.lag1, phi, 0.02);
        EXPECT_NEAR(found.effective_n / effective(phi, 100000), 1, 0.15) << "phi = " << phi;
    }
}

TEST(Dependence, AFewFarOutSamplesDoNotHideIt) {
    Random random(6);
    std::vector<double> x = lognormal(random, 400, 0.1, 0.5);
    for (std::size_t i = 20; i < x.size(); i += 60) x[i] *= 1000;
    EXPECT_GT(estimate_median(x).lag1, 0.3);
}

TEST(Dependence, IndependentSeriesKeepMostOfTheirSize) {
    for (const std::size_t n : {6U, 10U, 20U, 30U, 50U, 100U, 300U, 1000U}) {
        const auto share = [&](double phi) {
            Random random(8);
            std::vector<double> shares;
            for (int i = 0; i < 200; ++i)
                shares.push_back(estimate_median(lognormal(random, n, 0.5, phi)).effective_n /
                                 static_cast<double>(n));
            return quantile(shares, 0.5);
        };
        EXPECT_GE(share(0), 0.6) << n;
        if (n >= 20) {
            EXPECT_LE(share(0.9), 0.15) << n;
        }
    }
}

// In 8,000 simulations the coverage was 94.3, 94.1 and 93.8 % (standard error 0.3). Below 93 % the
// estimator got worse.
TEST(EstimateMedian, ItsIntervalCoversInShortCorrelatedSeries) {
    const auto covered = [](std::size_t n, double phi) {
        return per_cent(77, [&](Random& random) {
            const auto ci = estimate_median(lognormal(random, n, 0.1, phi)).ci;
            return ci.low <= 1 && 1 <= ci.high;
        });
    };
    EXPECT_GE(covered(100, 0.5), 93 - kAllowance);
    EXPECT_GE(covered(200, 0.7), 93 - kAllowance);
    EXPECT_GE(covered(500, 0.9), 93 - kAllowance);
}

// A slow drift counts as correlation; alternation does not widen the interval.
TEST(Dependence, DriftAndAlternation) {
    Random random(11);
    std::vector<double> drift = normal(random, 2000, 1, 0.01);
    std::vector<double> alternating = normal(random, 2000, 1, 0.01);
    for (std::size_t i = 0; i < drift.size(); ++i) {
        drift[i] += 0.05 * static_cast<double>(i) / 2000;
        alternating[i] += i % 2 == 0 ? 0.05 : 0;
    }
    EXPECT_LT(estimate_median(drift).effective_n, 200);
    EXPECT_LT(estimate_median(alternating).lag1, -0.5);
    EXPECT_LE(estimate_median(alternating).effective_n, 2000);
}

// A change that hits both samples of a pair does not change the ratio: each pair has ratio 2, while
// samples differ by a factor of 8.
TEST(Ratio, PairsStayTogether) {
    const std::vector<double> b{1, 8, 2, 4, 1.5, 3, 6, 5};
    const std::vector<double> a{2, 16, 4, 8, 3, 6, 12, 10};
    const RatioEstimate paired = estimate_paired_ratio(a, b);
    EXPECT_DOUBLE_EQ(paired.ratio, 2);
    EXPECT_DOUBLE_EQ(paired.ci.low, 2);
    EXPECT_DOUBLE_EQ(paired.ci.high, 2);
    EXPECT_TRUE(std::isnan(estimate_paired_ratio(std::vector(5, 1.0), std::vector(5, 1.0)).ci.low));
}

// The true ratio is 0.5. Both samples of a pair share a disturbance, three times their own noise.
TEST(Ratio, OfPairsCoversTheTruth) {
    Random random(7);
    std::size_t covered = 0;
    const std::size_t runs = simulated::kSimulations;
    for (std::size_t run = 0; run < runs; ++run) {
        std::vector<double> a, b;
        for (int i = 0; i < 12; ++i) {
            const double mood = std::exp(0.3 * random.normal());
            a.push_back(0.5 * mood * std::exp(0.1 * random.normal()));
            b.push_back(mood * std::exp(0.1 * random.normal()));
        }
        const auto found = estimate_paired_ratio(a, b).ci;
        covered += found.low <= 0.5 && 0.5 <= found.high ? 1 : 0;
    }
    EXPECT_GT(100.0 * static_cast<double>(covered) / static_cast<double>(runs),
              93 - simulated::kAllowance);
}

}  // namespace
}  // namespace ranklab::stats
