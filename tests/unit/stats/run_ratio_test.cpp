#include "stats/interval.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "unit/stats/simulated.hpp"

namespace ranklab::stats {
namespace {

using simulated::kAllowance;
using simulated::lognormal;
using simulated::per_cent;

TEST(RunRatio, IsOfMediansAndHasAnIntervalFromThreeRunsASideOn) {
    const std::array a{2.0, 4.0, 2.2}, b{1.0, 1.1, 1.2};
    const auto found = run_ratio(a, b);
    EXPECT_DOUBLE_EQ(found.ratio, 2.0);
    EXPECT_LT(found.ci.low, 2.0);
    EXPECT_GT(found.ci.high, 2.0);
    const std::array two{2.0, 2.2};
    const std::array none{1.0, 0.0, 1.0}, same{3.0, 3.0, 3.0};
    EXPECT_TRUE(std::isnan(run_ratio(two, b).ci.low)) << "of two runs there is none";
    EXPECT_TRUE(std::isnan(run_ratio(a, none).ci.low)) << "zero has no logarithm";
    const auto equal = run_ratio(same, same);
    EXPECT_EQ(equal.ci.low, 1);
    EXPECT_EQ(equal.ci.high, 1);
    const std::array zeros{0.0, 0.0, 0.0};
    EXPECT_EQ(run_ratio(zeros, zeros).ratio, 1) << "an error count that stays 0 has not changed";
}

// With equal spread, and with three times the spread on one side.
TEST(RunRatio, CoversAsOftenAsItSays) {
    for (const auto& [n, spread] : {std::pair{3, 0.02}, {5, 0.02}, {10, 0.05}, {5, 0.06}}) {
        const double covered =
            per_cent(17, [&, count = static_cast<std::size_t>(n), wide = spread](Random& random) {
                const auto a = lognormal(random, count, wide), b = lognormal(random, count, 0.02);
                const auto found = run_ratio(a, b);
                return found.ci.low <= 1 && found.ci.high >= 1;
            });
        EXPECT_GE(covered, 93.5 - kAllowance) << n;
        EXPECT_LE(covered, 98.5 + kAllowance) << n;
    }
}

}  // namespace
}  // namespace ranklab::stats
