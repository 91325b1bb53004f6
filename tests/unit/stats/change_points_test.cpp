#include "stats/change_points.hpp"

#include <gtest/gtest.h>

#include "simulated.hpp"

namespace ranklab::stats {
namespace {

using namespace simulated;
using Values = std::vector<double>;

Values after(Values x, const Values& more) {
    x.insert(x.end(), more.begin(), more.end());
    return x;
}

// Whether a step after 40 values is found within the next `most`, one after another, and its place
// within 7.
bool is_found_within(Random& random, double spread, double step, std::size_t most) {
    Values x = lognormal(random, 40, spread);
    for (std::size_t n = 0; n < most; ++n) {
        x = after(x, times(lognormal(random, 1, spread), 1 + step));
        const auto steps = change_points(x).steps;
        if (!steps.empty() && steps.back() + 7 >= 40) return true;
    }
    return false;
}

// Steps found in 1,000 values: series of 20 to 400 of one kind.
template <class Value>
double found_per_1000(std::uint64_t seed, Value value, std::size_t series = kSimulations) {
    Random random(seed);
    std::size_t values = 0, steps = 0;
    for (std::size_t i = 0; i < series; ++i) {
        const double spread = 0.01 + 0.04 * random.uniform();
        Values x = lognormal(random, 20 + random.index(381), spread);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] *= value(random, spread);
        values += x.size();
        steps += change_points(x).steps.size();
    }
    return 1000 * static_cast<double>(steps) / static_cast<double>(values);
}

TEST(ChangePoints, AStepIsFoundSoon) {
    for (const double sign : {-1.0, 1.0}) {
        const auto of = [&](double step, std::size_t most) {
            return per_cent(17, [&](Random& random) {
                return is_found_within(random, 0.02, sign * step, most);
            });
        };
        EXPECT_GE(of(0.10, 3), 95 - kAllowance) << sign;
        EXPECT_GE(of(0.05, 7), 95 - kAllowance) << sign;
    }
}

TEST(ChangePoints, WithoutAStepFewAreFound) {
    const double allowed = kFew ? 1.5 : 1;
    EXPECT_LE(found_per_1000(3, [](Random&, double) { return 1.0; }), allowed);
    EXPECT_LE(found_per_1000(4,
                             [](Random& random, double) {  // spikes
                                 return random.uniform() < 0.02 ? 1.1 + 0.3 * random.uniform() : 1;
                             }),
              allowed);
    for (const double share : {0.2, 0.5})  // two levels in any order
        EXPECT_LE(found_per_1000(5,
                                 [&](Random& random, double spread) {
                                     return random.uniform() < share ? 1 + 6 * spread : 1;
                                 }),
                  allowed)
            << share;
}

TEST(ChangePoints, EachStepHasItsPlace) {
    Random random(7);
    const Values level = lognormal(random, 40, 0.01);
    const auto found = change_points(after(after(level, times(level, 1.1)), times(level, 0.9)));
    EXPECT_EQ(found.steps, (std::vector<std::size_t>{40, 80}));
    EXPECT_TRUE(found.spikes.empty());
    EXPECT_FALSE(found.drifts || found.two_levels);
}

TEST(ChangePoints, SpikesLevelsAndDriftsAreNamed) {
    Random random(8);
    Values x = lognormal(random, 40, 0.01), levels = x, drift = x;
    x[10] *= 1.5;
    x[38] *= 1.2;
    x[39] *= 1.2;
    EXPECT_EQ(change_points(x).spikes, (std::vector<std::size_t>{10, 38, 39}));
    EXPECT_TRUE(change_points(x).steps.empty());
    for (std::size_t i = 0; i < levels.size(); ++i) {
        levels[i] *= i / 2 % 2 == 0 ? 1 : 1.2;
        drift[i] *= 1 + 0.005 * static_cast<double>(i);
    }
    EXPECT_TRUE(change_points(levels).two_levels);
    EXPECT_TRUE(change_points(levels).steps.empty());
    EXPECT_TRUE(change_points(drift).drifts);
    EXPECT_TRUE(change_points(drift).steps.empty());
}

TEST(ChangePoints, SmallStepsAndOddValuesAreNone) {
    Random random(9);
    const Values level = lognormal(random, 100, 0.002);
    EXPECT_TRUE(change_points(after(level, times(level, 1.015))).steps.empty());
    EXPECT_EQ(change_points(after(level, times(level, 1.015)), 0.01).steps.size(), 1U);
    EXPECT_TRUE(change_points(Values(50, 3)).steps.empty());
    EXPECT_TRUE(change_points(Values{}).steps.empty());
    EXPECT_TRUE(change_points(after(Values(20, 0), Values(20, 1))).steps.empty());
    EXPECT_EQ(change_points(after(Values(20, 2), Values(20, 1))).steps.size(), 1U);
}

}  // namespace
}  // namespace ranklab::stats
