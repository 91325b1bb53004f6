#include "stats/difference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "simulated.hpp"

namespace ranklab::stats {
namespace {

using namespace simulated;

std::vector<double> rounded(std::vector<double> x, double step) {
    for (double& value : x) value = step * std::round(value / step);
    return x;
}

// R's example of wilcox.test (Hollander & Wolfe 1973, p. 69): one-sided p 0.1272, W = 35 of 50.
TEST(MannWhitney, HollanderAndWolfesPermeability) {
    const std::vector<double> term{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
    const std::vector<double> early{1.15, 0.88, 0.90, 0.74, 1.21};
    const RankTest test = mann_whitney(early, term);
    EXPECT_NEAR(test.p, 0.2544, 5e-5);
    EXPECT_DOUBLE_EQ(test.effect, 2 * 35.0 / 50 - 1);
    EXPECT_DOUBLE_EQ(mann_whitney(term, early).effect, -test.effect);
    EXPECT_DOUBLE_EQ(mann_whitney(term, early).p, test.p);
}

// SciPy's example of mannwhitneyu: U1 = 17, exact p 0.1111...
TEST(MannWhitney, SciPysAgesOfDiagnosis) {
    const std::vector<double> males{19, 22, 16, 29, 24};
    const std::vector<double> females{20, 11, 17, 12};
    EXPECT_NEAR(mann_whitney(males, females).p, 1.0 / 9, 1e-12);
    EXPECT_DOUBLE_EQ(mann_whitney(females, males).effect, 2 * 17.0 / 20 - 1);
}

// R's wilcox.test(Ozone ~ Month, subset = Month %in% c(5, 8)) of airquality: many, with ties; W =
// 127.5, p 0.0001208.
TEST(MannWhitney, RsOzoneInMayAndAugust) {
    const std::vector<double> may{41, 36, 12, 18, 28, 23, 19, 8, 7,  16, 11, 14,  18,
                                  14, 34, 6,  30, 11, 1,  11, 4, 32, 23, 45, 115, 37};
    const std::vector<double> august{39, 9,  16, 78, 35, 66, 122, 89,  110, 44, 28,  65, 22,
                                     59, 23, 31, 44, 21, 9,  45,  168, 73,  76, 118, 84, 85};
    const RankTest test = mann_whitney(may, august);
    EXPECT_NEAR(test.p, 0.0001208, 5e-8);
    EXPECT_DOUBLE_EQ(test.effect, 1 - 2 * 127.5 / (26 * 26));
}

TEST(MannWhitney, SidesApartHaveTheSmallestP) {
    const std::vector<double> a{1, 2, 3, 4, 5};
    const std::vector<double> b{6, 7, 8, 9, 10};
    EXPECT_NEAR(mann_whitney(a, b).p, 2.0 / 252, 1e-12);
    EXPECT_DOUBLE_EQ(mann_whitney(a, b).effect, 1);
    EXPECT_DOUBLE_EQ(mann_whitney(b, a).effect, -1);
}

TEST(MannWhitney, EqualSidesAreNotDifferent) {
    const std::vector<double> a(7, 3.0);
    EXPECT_EQ(mann_whitney(a, a).p, 1);
    EXPECT_EQ(mann_whitney(a, a).effect, 0);
    const std::vector<double> many(100, 3.0);
    EXPECT_EQ(mann_whitney(many, many).p, 1);
}

TEST(MannWhitney, OfNothingThereIsNone) {
    const std::vector<double> a{1, 2, 3};
    EXPECT_TRUE(std::isnan(mann_whitney({}, a).p));
    EXPECT_TRUE(std::isnan(mann_whitney(a, {}).effect));
    EXPECT_TRUE(std::isnan(mann_whitney(a, std::vector<double>{NAN, 1}).p));
}

// With ties, compared with an enumeration of all splits.
TEST(MannWhitney, TiesAreExactForFewRuns) {
    const std::vector<double> a{1, 2, 2, 3};
    const std::vector<double> b{2, 3, 3, 4};
    std::vector<double> all{1, 2, 2, 2, 3, 3, 3, 4};
    const std::vector<double> ranks{1, 3, 3, 3, 6, 6, 6, 8};
    std::vector<char> chosen{0, 0, 0, 0, 1, 1, 1, 1};
    const double seen = std::abs(3 + 6 + 6 + 8 - 18.0);
    double beyond = 0, splits = 0;
    do {
        double sum = 0;
        for (std::size_t i = 0; i < 8; ++i) sum += chosen[i] != 0 ? ranks[i] : 0;
        beyond += std::abs(sum - 18) >= seen ? 1 : 0;
        ++splits;
    } while (std::next_permutation(chosen.begin(), chosen.end()));
    EXPECT_EQ(splits, 70);
    EXPECT_NEAR(mann_whitney(a, b).p, beyond / splits, 1e-12);
}

// The exact and the approximate test agree at 50 runs, where they change over.
TEST(MannWhitney, TheApproximationGoesOnFromTheExactOne) {
    for (int trial = 0; trial < 20; ++trial) {
        Random random(static_cast<std::uint64_t>(trial));
        std::vector<double> a = lognormal(random, 25, 0.1);
        std::vector<double> b = times(lognormal(random, 25, 0.1), 1.04);
        const double exact = mann_whitney(a, b).p;
        a.push_back(quantile(a, 0.5));
        b.push_back(quantile(b, 0.5));
        const double approximate = mann_whitney(a, b).p;
        EXPECT_NEAR(std::log(approximate / exact), 0, 0.5) << exact << ' ' << approximate;
    }
}

// Without a difference p is below 0.05 in at most 5 % of comparisons, and, as U takes few values,
// in at least 2 %.
TEST(MannWhitney, IsRightUnderNoDifference) {
    for (const std::size_t n : {5U, 6U, 8U, 10U, 20U}) {
        const auto below = [&](auto draw) {
            return per_cent(21 + n, [&](Random& random) {
                const std::vector<double> a = draw(random);
                return mann_whitney(a, draw(random)).p < 0.05;
            });
        };
        const auto normals = below([&](Random& r) { return normal(r, n, 10, 1); });
        const auto lognormals = below([&](Random& r) { return lognormal(r, n, 1); });
        const auto ties = below([&](Random& r) { return rounded(normal(r, n, 10, 1), 0.5); });
        for (const double share : {normals, lognormals, ties}) {
            EXPECT_GE(share, 2 - kAllowance) << "n = " << n;
            EXPECT_LE(share, 5 + kAllowance) << "n = " << n;
        }
    }
}

// R: p.adjust(p, "holm")
TEST(Holm, AgreesWithR) {
    const auto five = holm(std::vector<double>{0.01, 0.02, 0.03, 0.04, 0.05});
    const std::vector<double> expected{0.05, 0.08, 0.09, 0.09, 0.09};
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(five[i], expected[i], 1e-12);
    const auto mixed = holm(std::vector<double>{0.9, 0.001, 0.6, 0.012});
    const std::vector<double> in_order{1, 0.004, 1, 0.036};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(mixed[i], in_order[i], 1e-12);
}

TEST(Holm, NaNStaysAndDoesNotCount) {
    const auto corrected = holm(std::vector<double>{0.02, NAN, 0.01});
    EXPECT_DOUBLE_EQ(corrected[0], 0.02);
    EXPECT_TRUE(std::isnan(corrected[1]));
    EXPECT_DOUBLE_EQ(corrected[2], 0.02);
    EXPECT_TRUE(holm({}).empty());
}

// At most 5 % of comparisons of ten equal measurements show any difference.
TEST(Holm, KeepsTheWholeComparisonAtItsLevel) {
    const double any = per_cent(31, [](Random& random) {
        std::vector<double> p;
        for (int i = 0; i < 10; ++i)
            p.push_back(mann_whitney(lognormal(random, 8, 0.1), lognormal(random, 8, 0.1)).p);
        const auto corrected = holm(p);
        return *std::min_element(corrected.begin(), corrected.end()) < 0.05;
    });
    EXPECT_LE(any, 6.5 + kAllowance);
}

Difference seen(double ratio, double low, double high) {
    Difference difference;
    difference.n_a = difference.n_b = 10;
    difference.ratio = {ratio, {low, high}};
    return difference;
}

TEST(Judge, ByPAndIntervalAndSmallestChange) {
    EXPECT_EQ(judge(seen(1.10, 1.06, 1.14), 0.001, 0.03, Better::less), Verdict::worse);
    EXPECT_EQ(judge(seen(1.10, 1.06, 1.14), 0.001, 0.03, Better::more), Verdict::better);
    EXPECT_EQ(judge(seen(0.90, 0.86, 0.94), 0.001, 0.03, Better::less), Verdict::better);
    EXPECT_EQ(judge(seen(0.90, 0.86, 0.94), 0.001, 0.03, Better::more), Verdict::worse);
    EXPECT_EQ(judge(seen(1.01, 0.99, 1.02), 0.3, 0.03, Better::less), Verdict::same);
    EXPECT_EQ(judge(seen(1.05, 1.05, 1.05), 0.001, 0.05, Better::less), Verdict::worse)
        << "just 5 %";
    EXPECT_EQ(judge(seen(0.95, 0.95, 0.95), 0.001, 0.05, Better::less), Verdict::better);
    EXPECT_EQ(judge(seen(1.0499, 1.045, 1.05), 0.001, 0.05, Better::less), Verdict::same);
    EXPECT_EQ(judge(seen(1.01, 1.005, 1.02), 0.001, 0.03, Better::less),
              Verdict::same);  // real, but too small
    EXPECT_EQ(judge(seen(1.02, 1.005, 1.04), 0.001, 0.03, Better::less), Verdict::too_noisy);
    EXPECT_EQ(judge(seen(1.10, 0.99, 1.2), 0.01, 0.03, Better::less), Verdict::too_noisy);
    EXPECT_EQ(judge(seen(1.10, 1.06, 1.14), 0.06, 0.03, Better::less), Verdict::too_noisy);
    EXPECT_EQ(judge(seen(1.10, 1.06, 1.14), kNone, 0.03, Better::less), Verdict::too_noisy);
}

TEST(Judge, BelowFiveRunsASideThereIsNoVerdict) {
    Random random(41);
    for (const std::size_t n : {0U, 1U, 4U, 5U}) {
        const auto a = lognormal(random, n, 0.001);
        const auto b = times(lognormal(random, 8, 0.001), 2);
        const Difference one = difference(a, b);
        EXPECT_EQ(judge(one, one.test.p, 0.05, Better::less),
                  n < 5 ? Verdict::too_few_runs : Verdict::worse);
        const Difference other = difference(b, a);
        EXPECT_EQ(judge(other, other.test.p, 0.05, Better::less),
                  n < 5 ? Verdict::too_few_runs : Verdict::better);
        EXPECT_EQ(std::isnan(one.ratio.ci.low), n < 3);
    }
}

// Of an even number of runs the mean of the middle two times is not that of the middle two rates.
TEST(Difference, OfRatesIsThatOfTheirTimes) {
    const std::vector<double> a{0.1, 0.2}, b{0.4, 0.1, 0.2, 0.3}, rate_a{10, 5},
        rate_b{2.5, 10, 5, 1 / 0.3};
    EXPECT_DOUBLE_EQ(summarise_runs(rate_a, true).median, 1 / summarise_runs(a, false).median);
    const Difference times = difference(b, a), rates = difference(rate_a, rate_b, true);
    EXPECT_DOUBLE_EQ(rates.ratio.ratio, times.ratio.ratio);
    EXPECT_DOUBLE_EQ(rates.test.p, times.test.p);
    EXPECT_DOUBLE_EQ(rates.test.effect, times.test.effect);
    EXPECT_EQ(rates.n_b, 4U);
}

TEST(Judge, WhatNeverChangesIsTheSame) {
    const std::vector<double> x(6, 4096.0);
    const Difference none = difference(x, x);
    EXPECT_EQ(judge(none, none.test.p, 0.01, Better::less), Verdict::same);
}

// A run's time: little noise, and a load that comes and goes from run to run. A and B in turn.
std::pair<std::vector<double>, std::vector<double>> in_turn(Random& random, double noise,
                                                            double load, double change) {
    std::vector<double> a, b;
    bool busy = random.uniform() < 0.3;
    for (int i = 0; i < 5; ++i)
        for (auto* side : {&a, &b}) {
            if (random.uniform() < 0.3) busy = !busy && random.uniform() < 0.5;
            side->push_back(std::exp(noise * random.normal()) *
                            (busy ? 1 + load * random.uniform() : 1) * (side == &b ? change : 1));
        }
    return {a, b};
}

// Fives: of 40 equal pairs at most 2, of 40 quiet ones that differ by 10 % at least 36.
TEST(Judge, FivesUnderLoadThatComesAndGoes) {
    const auto firm = [](double noise, double load, double change) {
        return per_cent(
            71,
            [&](Random& random) {
                const auto [a, b] = in_turn(random, noise, load, change);
                const Difference found = difference(a, b);
                const Verdict verdict = judge(found, found.test.p, kMinEffect, Better::less);
                return verdict == Verdict::worse || verdict == Verdict::better;
            },
            kSimulations);
    };
    for (const double load : {0.0, 0.3, 0.8}) EXPECT_LE(firm(0.02, load, 1), 2 + kAllowance);
    EXPECT_GE(firm(0.03, 0, 1.1), 95 - kAllowance);
}

// 5 runs a side have 252 splits, 6 have 924.
TEST(FewestRuns, HolmsSmallestPIsBelowTheLevel) {
    const std::pair<std::size_t, std::size_t> expected[] = {
        {1, 5}, {6, 5}, {7, 6}, {23, 6}, {24, 7}};
    for (const auto& [compared, runs] : expected) {
        EXPECT_EQ(fewest_runs(compared), runs) << compared;
        std::vector<double> low(runs), high(runs);
        std::iota(low.begin(), low.end(), 100.0);
        std::iota(high.begin(), high.end(), 200.0);
        EXPECT_LT(static_cast<double>(compared) * mann_whitney(low, high).p, 0.05);
        low.pop_back();
        high.pop_back();
        const double fewer = static_cast<double>(compared) * mann_whitney(low, high).p;
        if (runs > kFewestRuns) {
            EXPECT_GE(fewer, 0.05);
        }
    }
}

// After five pilot runs the recommended number of runs detects a slowdown of 5 %, alone and among
// ten measurements.
TEST(RunsNeeded, AsManyRunsFindTheSlowdown) {
    for (const double spread : {0.02, 0.05}) {
        for (const std::size_t compared : {1U, 10U}) {
            const double found = per_cent(
                51,
                [&](Random& random) {
                    const auto pilot_a = lognormal(random, 5, spread);
                    const auto pilot_b = times(lognormal(random, 5, spread), 1.05);
                    const std::size_t n = runs_needed(pilot_a, pilot_b, 0.03, compared);
                    std::vector<double> p;
                    const Difference slower = difference(lognormal(random, n, spread),
                                                         times(lognormal(random, n, spread), 1.05));
                    p.push_back(slower.test.p);
                    for (std::size_t i = 1; i < compared; ++i)
                        p.push_back(
                            mann_whitney(lognormal(random, n, spread), lognormal(random, n, spread))
                                .p);
                    return judge(slower, holm(p).front(), 0.03, Better::less) == Verdict::worse;
                },
                kSimulations / 5);
            EXPECT_GE(found, 80 - kAllowance) << "spread " << spread << ", compared " << compared;
        }
    }
}

TEST(RunsNeeded, MoreForSmallerChangesAndMoreComparisons) {
    Random random(61);
    const auto a = lognormal(random, 10, 0.05);
    const auto b = lognormal(random, 10, 0.05);
    EXPECT_GT(runs_needed(a, b, 0.01), 20 * runs_needed(a, b, 0.05));
    EXPECT_GE(runs_needed(a, b, 0.02, 20), runs_needed(a, b, 0.02, 1));
    EXPECT_EQ(runs_needed(a, b, 10), kFewestRuns);
    EXPECT_EQ(runs_needed(std::vector<double>(5, 1.0), std::vector<double>(5, 1.0), 0.05),
              kFewestRuns);
}

TEST(RunsNeeded, UnknownWhereTheSpreadIs) {
    const std::vector<double> two{1, 2};
    const std::vector<double> three{1, 2, 3};
    EXPECT_EQ(runs_needed(two, two, 0.05), 0U);
    EXPECT_EQ(runs_needed({}, {}, 0.05), 0U);
    EXPECT_GT(runs_needed(two, three, 0.05), 0U);
    EXPECT_EQ(runs_needed(three, three, 0), 0U);
    EXPECT_EQ(runs_needed(std::vector<double>{0, 0, 0}, three, 0.05), 0U);  // relative to nothing
}

}  // namespace
}  // namespace ranklab::stats
