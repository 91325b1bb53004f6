#include "measure/convergence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.hpp"
#include "mpi_world.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::measure {
namespace {

using ranklab::testing::world;

// Independent, about 1 s with 10 % spread; every rank draws its own.
std::vector<double> noise(std::size_t n, unsigned seed) {
    std::mt19937_64 random(seed + 100 * static_cast<unsigned>(world().rank()));
    std::lognormal_distribution<double> draw(0, 0.1);
    std::vector<double> samples(n);
    for (double& sample : samples) sample = draw(random);
    return samples;
}

TEST(Target, IsAPercentage) {
    EXPECT_DOUBLE_EQ(parse_target("2%"), 0.02);
    EXPECT_DOUBLE_EQ(parse_target("0.5 %"), 0.005);
    EXPECT_DOUBLE_EQ(parse_target("1000%"), 10);
    for (const char* bad :
         {"", "2", "0.02", "0%", "-1%", "nan%", "inf%", "two%", "2%%", "%", "2%x", "1e999%"}) {
        EXPECT_THAT(ranklab::tests::thrown_sentence<base::OptionError>([&] { parse_target(bad); }),
                    ::testing::HasSubstr("2%"))
            << bad;
    }
}

TEST(Convergence, NothingIsDueWhereNothingIsWanted) {
    const Convergence none;
    EXPECT_FALSE(none.wanted());
    EXPECT_FALSE(none.due(1000000));
    EXPECT_FALSE(none.reached());
}

TEST(Convergence, LooksAreAtDoubledNumbers) {
    Convergence convergence(1e-9, 8);
    EXPECT_FALSE(convergence.due(7));
    std::vector<std::int64_t> counts;
    for (std::int64_t n = 1; n <= 100; ++n) {
        if (!convergence.due(n)) continue;
        counts.push_back(n);
        convergence.look(world(), noise(static_cast<std::size_t>(n - convergence.seen()), 1));
    }
    EXPECT_EQ(counts, (std::vector<std::int64_t>{8, 16, 32, 64}));
    EXPECT_FALSE(convergence.reached());
    EXPECT_EQ(convergence.seen(), 64);
}

TEST(Convergence, AWideTargetIsReachedAtTheFirstLook) {
    Convergence convergence(10, 40);
    convergence.look(world(), noise(40, 2));
    EXPECT_TRUE(convergence.reached()) << "on every rank";
    EXPECT_FALSE(convergence.due(1000)) << "it is over";
    if (world().rank() != 0) return;
    EXPECT_THAT(convergence.text("steps"), ::testing::MatchesRegex(".* % after 40 steps"));
}

// Below six samples there is no interval, so none is narrow enough.
TEST(Convergence, WithoutAnIntervalItIsNotReached) {
    Convergence convergence(10, 5);
    convergence.look(world(), noise(5, 3));
    EXPECT_FALSE(convergence.reached());
    if (world().rank() != 0) return;
    EXPECT_EQ(convergence.text("repetitions"), "no interval after 5 repetitions, 1e+03 % wanted");
}

// Eight equal times may be chance.
TEST(Convergence, FewSamplesDoNotEndARun) {
    Convergence convergence(10, 8);
    convergence.look(world(), noise(8, 2));
    EXPECT_FALSE(convergence.reached());
    if (world().rank() != 0) return;
    EXPECT_THAT(convergence.text("steps"),
                ::testing::HasSubstr("after 8 steps, worth 8 independent samples; 15 wanted"));
}

// One look more is one more chance to stop at an interval that is too narrow: the interval at the
// end must cover the median all the same.
TEST(Convergence, TheIntervalAtTheEndCovers) {
    constexpr int kRuns = 200;
    constexpr double kSpread = 0.1;
    for (const std::int64_t least : {10, 50})
        for (const double target : {0.03, 0.05, 0.1}) {
            std::mt19937_64 random(7);  // the same series on all ranks
            std::normal_distribution<double> draw;
            int covered = 0;
            for (int run = 0; run < kRuns; ++run) {
                Convergence convergence(target, least);
                double z = draw(random);
                for (std::int64_t n = least; !convergence.reached() && n < 20 * least;
                     n = std::min(20 * least, convergence.next())) {
                    std::vector<double> since(static_cast<std::size_t>(n - convergence.seen()));
                    for (double& sample : since) {
                        sample = std::exp(kSpread * z);
                        z = 0.5 * z + std::sqrt(0.75) * draw(random);
                    }
                    convergence.look(world(), since);
                }
                if (world().rank() != 0) continue;
                const auto& last = convergence.looks().back().estimate.ci;
                covered += last.low <= 1 && 1 <= last.high ? 1 : 0;
            }
            if (world().rank() == 0) {
                EXPECT_GE(covered, 0.93 * kRuns - 9) << least << " " << target;
            }
        }
}

TEST(Convergence, MoreSamplesReachWhatFewDoNot) {
    Convergence convergence(0.01, 20);
    std::int64_t n = 20;
    while (!convergence.reached() && n < 20000) {
        convergence.look(world(), noise(static_cast<std::size_t>(n - convergence.seen()),
                                        static_cast<unsigned>(n)));
        n = convergence.next();
    }
    EXPECT_TRUE(convergence.reached());
    EXPECT_GT(convergence.seen(), 100);
    if (world().rank() != 0) return;
    EXPECT_GT(convergence.looks().front().half_width(), 0.01);
    EXPECT_LE(convergence.looks().back().half_width(), 0.01);
    EXPECT_EQ(convergence.looks().back().samples, convergence.seen());
}

TEST(Convergence, TheSlowestRankCounts) {
    Convergence convergence(10, 6);
    convergence.look(world(), std::vector<double>(6, 1.0 + world().rank()));
    if (world().rank() != 0) return;
    EXPECT_EQ(convergence.looks().back().estimate.value, world().world_size());
}

}  // namespace
}  // namespace ranklab::measure
