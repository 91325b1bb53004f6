#include "forecast/step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/numbers.hpp"

namespace ranklab::forecast {
namespace {

constexpr double kNear = 1e-9;
constexpr RankWork kWork{.input_s = 1, .forward_s = 2, .backward_s = 8, .optimizer_s = 3};

// Equal gradients, ready at equal distances; the last one at the end of backward.
std::vector<Gradient> even_gradients(std::size_t count, double bytes) {
    std::vector<Gradient> gradients;
    for (std::size_t i = 1; i <= count; ++i)
        gradients.push_back({bytes, base::real(i) / base::real(count)});
    return gradients;
}

Network network(double alpha, double beta, double compute_share = 0) {
    return {[=](double bytes) { return alpha + beta * bytes; }, compute_share};
}

double step_s(const SyncPlan& plan, const Network& net, std::vector<RankWork> ranks = {kWork},
              std::size_t gradients = 4) {
    return simulate_step(ranks, even_gradients(gradients, 10), plan, net).step_s;
}

TEST(SimulatedStep, EqualsItsClosedForms) {
    const struct {
        const char* what;
        SyncPlan plan;
        Network net;
        double step_s;
    } cases[] = {
        {"no sums", {.sync = Sync::none}, network(1, 1), 14},
        {"one sum after backward", {.sync = Sync::flat}, network(0.5, 0.1), 14 + 0.5 + 4},
        {"a sum a gradient", {.sync = Sync::per_parameter}, network(0.5, 0.1), 14 + 4 * 1.5},
        {"micro-batches", {.sync = Sync::flat, .accumulate = 3}, network(0.5, 0.1), 3 + 33 + 4.5},
        // A pipeline: the first sum begins after 2 of 8; short sums leave only the last one.
        {"short sums hide", {.cap_bytes = 10}, network(0, 0.1), 14 + 1},
        {"long sums queue", {.cap_bytes = 10}, network(0, 0.5), 14 - 6 + 4 * 5},
        {"two buckets", {.first_cap_bytes = 20, .cap_bytes = 20}, network(1, 0.1), 14 + 3},
        {"none hides", {.cap_bytes = 10, .overlaps = false}, network(0, 0.1), 14 + 4},
        // A sum of 1 s beside backward costs half a second of it, three times.
        {"half a core", {.cap_bytes = 10}, network(0, 0.1, 0.5), 14 + 3 * 0.5 + 1},
        {"a whole core", {.cap_bytes = 10}, network(0, 0.1, 1), 14 + 4},
    };
    for (const auto& one : cases)
        EXPECT_NEAR(step_s(one.plan, one.net), one.step_s, kNear) << one.what;
}

TEST(SimulatedStep, WaitsForTheSlowestRankAndTheLoader) {
    RankWork slow = kWork, loading = kWork;
    slow.forward_s = 5;
    loading.loader_s = 40;
    const SyncPlan flat{.sync = Sync::flat};
    EXPECT_NEAR(step_s(flat, network(0, 0.1), {kWork, slow}), 17 + 4, kNear);
    EXPECT_NEAR(step_s(flat, network(0, 0.1), {kWork, loading}), 40, kNear);
    const std::vector<RankWork> ranks{kWork, slow};
    const auto step =
        simulate_step(ranks, even_gradients(4, 10), {.cap_bytes = 10}, network(0, 0.1));
    EXPECT_NEAR(step.compute_s, 17, kNear);
    EXPECT_NEAR(step.exposed_s, 1, kNear);
    ASSERT_EQ(step.reductions.size(), 4U);
    EXPECT_NEAR(step.reductions[0].ready_s, 3 + 1 + 5 + 2, kNear);
}

TEST(SimulatedStep, ThousandsOfRanks) {
    std::vector<RankWork> ranks(4096, kWork);
    ranks[77].backward_s = 10;
    EXPECT_NEAR(step_s({.cap_bytes = 10}, network(0, 0.01, 0.5), ranks, 160),
                3 + 3 + 10 + 159 * 0.1 * 0.5 + 0.1, 1e-6);
}

TEST(SimulatedStep, BucketsCloseAtTheirCap) {
    const SyncPlan plan{.first_cap_bytes = 10, .cap_bytes = 25};
    const auto buckets = buckets_of(even_gradients(8, 10), plan);
    ASSERT_EQ(buckets.size(), 4U);
    const double bytes[] = {10, 30, 30, 10}, ready[] = {0.125, 0.5, 0.875, 1};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(buckets[i].bytes, bytes[i]) << i;
        EXPECT_EQ(buckets[i].ready, ready[i]) << i;
    }
}

TEST(ExpectedMaximum, OfSoManyOfTheSamples) {
    const std::vector<double> samples{3, 1, 2};
    EXPECT_NEAR(expected_maximum(samples, 1), 2, kNear);
    EXPECT_NEAR(expected_maximum(samples, 2), (1 * 1 + 2 * 3 + 3 * 5) / 9.0, kNear);
    EXPECT_NEAR(expected_maximum(samples, 3), (1 * 1 + 2 * 7 + 3 * 19) / 27.0, kNear);
    EXPECT_TRUE(std::isnan(expected_maximum(samples, 4))) << "more ranks than samples";
    EXPECT_TRUE(std::isnan(expected_maximum({}, 1)));
}

}  // namespace
}  // namespace ranklab::forecast
