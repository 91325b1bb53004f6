// Slow rows of simulated fleets are found, and rows of fleets without one are not called slow.
#include "stats/fleet.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "simulated.hpp"

namespace ranklab::stats {
namespace {

using namespace simulated;

constexpr std::size_t kMostRounds = 64, kMeasures = 5;
const FleetTest kFirst{.alpha = 0.2 / kMeasures}, kSecond{.of_each_row = true};

std::vector<RowCosts> fleet(Random& random, std::size_t rows, std::size_t rounds, double spread,
                            std::size_t slow, double effect = 0.10) {
    std::vector<RowCosts> costs;
    std::vector<double> drift = lognormal(random, rounds, 0.1, 0.9);
    for (std::size_t row = 0; row < rows; ++row) {
        auto& one = costs.emplace_back(lognormal(random, rounds, spread));
        for (std::size_t round = 0; round < rounds; ++round)
            one[round] *= drift[round] * (row < slow ? 1 + effect : 1);
    }
    return costs;
}

struct Counts {
    double found = 0, vets = 0, false_alarms = 0;
};

// As vet does: the rows that are slow in a measurement and in a second one.
void vet(Random& random, std::size_t rows, std::size_t rounds, double spread, std::size_t slow,
         Counts& counts) {
    ++counts.vets;
    const auto first = fleet_of(fleet(random, rows, rounds, spread, slow), kFirst);
    const auto second = fleet_of(fleet(random, rows, rounds, spread, slow), kSecond);
    bool wrong = false;
    for (std::size_t row = 0; row < rows; ++row) {
        const bool named = first.rows[row].slow && second.rows[row].slow;
        counts.found += row < slow && named ? 1 : 0;
        wrong |= row >= slow && named;
    }
    counts.false_alarms += wrong ? 1 : 0;
}

TEST(Fleet, RowsTenPerCentSlowerAreFoundAndOthersAreNot) {
    for (const std::size_t rows : kFew ? std::vector<std::size_t>{2, 4, 16, 64}
                                       : std::vector<std::size_t>{2, 3, 4, 8, 16, 64, 512, 4096})
        for (const double spread : {0.02, 0.05}) {
            const auto rounds = rounds_to_find(0.10, rows, spread, kFirst, kMostRounds);
            for (const std::size_t slow : {std::size_t{0}, std::size_t{1}, rows / 8}) {
                if (slow == rows / 8 && slow < 2) continue;
                Random random(rows + slow);
                Counts counts;
                const auto vets = std::max<std::size_t>(kFew ? 10 : 20, kSimulations * 8 / rows);
                for (std::size_t i = 0; i < vets; ++i)
                    vet(random, rows, rounds, spread, slow, counts);
                SCOPED_TRACE(::testing::Message() << rows << " rows, " << slow << " slow, spread "
                                                  << spread << ", " << rounds << " rounds");
                const double allowed = 3 * std::sqrt(0.05 * 0.95 / counts.vets);
                if (slow > 0) {
                    EXPECT_GE(counts.found / counts.vets / static_cast<double>(slow),
                              0.95 - allowed);
                }
                EXPECT_LE(counts.false_alarms / counts.vets, 0.01 + allowed / 2);
                RecordProperty("rounds", static_cast<int>(rounds));
            }
        }
}

TEST(Fleet, ASlowRowAmongThousandsIsDecidedAtOnce) {
    Random random(1);
    const auto costs = fleet(random, 4096, 24, 0.05, 1, 0.2);
    const auto begin = std::chrono::steady_clock::now();
    const auto found = fleet_of(costs, kFirst);
    RecordProperty(
        "seconds",
        std::to_string(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()));
    EXPECT_TRUE(found.rows[0].slow);
    EXPECT_NEAR(found.rows[0].effect, 0.2, 0.06);
    EXPECT_NEAR(found.spread, 0.05, 0.005);
}

TEST(Fleet, SmallAndEqualFleets) {
    Random random(2);
    EXPECT_FALSE(fleet_of(fleet(random, 1, 20, 0.02, 1), kFirst).rows[0].slow)
        << "nothing to compare";
    const auto two = fleet_of(fleet(random, 2, 20, 0.02, 1, 0.4), kFirst);
    EXPECT_TRUE(two.rows[0].slow);
    EXPECT_FALSE(two.rows[1].slow);
    EXPECT_NEAR(two.rows[0].effect, 0.4, 0.05) << "against the faster one";
    EXPECT_EQ(two.rows[0].seen, 20U);
    const std::vector<RowCosts> equal(5, RowCosts(4, 1.0));
    for (const auto& row : fleet_of(equal, kFirst).rows) EXPECT_FALSE(row.slow);
    EXPECT_FALSE(fleet_of(fleet(random, 16, 20, 0.005, 1, 0.03), kFirst).rows[0].slow)
        << "less than the smallest effect of interest";
}

// Rows of links have costs in few rounds.
TEST(Fleet, RowsWithFewRounds) {
    Random random(3);
    auto costs = fleet(random, 40, 12, 0.03, 1, 0.5);
    for (std::size_t row = 0; row < costs.size(); ++row)
        for (std::size_t round = 0; round < 12; ++round)
            if (round != row % 12) costs[row][round] = kNone;
    for (auto& row : costs)  // without drift: a row of one round cannot tell it
        for (double& value : row)
            if (!std::isnan(value))
                value = (&row == &costs.front() ? 1.5 : 1) * std::exp(0.03 * random.normal());
    const auto found = fleet_of(costs, kFirst);
    EXPECT_TRUE(found.rows[0].slow);
    EXPECT_EQ(found.rows[0].rounds, 1U);
    for (std::size_t row = 1; row < costs.size(); ++row) EXPECT_FALSE(found.rows[row].slow);
}

TEST(Fleet, SlowerThanBefore) {
    const std::vector<double> before{1.00, 1.01, 0.99, 1.02, 0.98};
    EXPECT_NEAR(slower_than_before(1.12, before, {}), 0.12, 1e-12);
    EXPECT_TRUE(std::isnan(slower_than_before(1.04, before, {}))) << "within min_effect";
    const std::vector<double> loose{1.0, 1.3, 0.8, 1.2, 0.9};
    EXPECT_TRUE(std::isnan(slower_than_before(1.2, loose, {}))) << "within their scatter";
    EXPECT_TRUE(std::isnan(slower_than_before(2, std::vector<double>{1, 1}, {}))) << "too few";
}

}  // namespace
}  // namespace ranklab::stats
