#include "forecast/step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
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

std::function<double(double)> line(double alpha, double beta) {
    return [=](double bytes) { return alpha + beta * bytes; };
}

TEST(SimulatedStep, EqualsItsClosedForms) {
    const auto each = even_gradients(4, 10);
    const std::vector<Gradient> whole{{40, 1}}, halves{{20, 0.5}, {20, 1}},
        late{{10, 1}, {10, 1}, {10, 1}, {10, 1}};
    const struct {
        const char* what;
        std::vector<Gradient> buckets;
        std::function<double(double)> allreduce_s;
        double step_s;
        double compute_share = 0;
        std::size_t micro_batches = 1;
    } cases[] = {
        {"no allreduce", {}, line(1, 1), 14},
        {"one allreduce after backward", whole, line(0.5, 0.1), 14 + 0.5 + 4},
        {"micro-batches", whole, line(0.5, 0.1), 3 + 33 + 4.5, 0, 3},
        // The first allreduce starts after 2 of 8 s; short ones leave only the last one exposed.
        {"short ones hide", each, line(0, 0.1), 14 + 1},
        {"long ones queue", each, line(0, 0.5), 14 - 6 + 4 * 5},
        {"two buckets", halves, line(1, 0.1), 14 + 3},
        {"none hides", late, line(0, 0.1), 14 + 4},
        // An allreduce of 1 s in backward costs half a second of computing, three times.
        {"half a core", each, line(0, 0.1), 14 + 3 * 0.5 + 1, 0.5},
        {"a whole core", each, line(0, 0.1), 14 + 4, 1},
        // During each of the first three allreduces, of 2 s, 1 s is computed.
        {"half a core, long ones", each, line(0, 0.2), 14 + 3 * 1 + 2, 0.5},
    };
    for (const auto& one : cases) {
        const auto step = simulate_step(kWork, one.micro_batches, one.buckets, one.allreduce_s,
                                        one.compute_share);
        EXPECT_NEAR(step.step_s, one.step_s, kNear) << one.what;
        EXPECT_NEAR(step.compute_s, one.micro_batches == 3 ? 36 : 14, kNear) << one.what;
    }
}

// The update takes 1 s in place of 3 s; a gather or a scatter of all gradients takes 2 s.
TEST(SimulatedStep, OfShardedStatesGathersInForward) {
    const std::vector<Gradient> whole{{40, 1}};
    const struct {
        int stage;
        std::size_t micro_batches;
        double step_s;
    } cases[] = {{1, 1, 12 + 4},     {2, 1, 12 + 4},         {3, 1, 12 + 6},
                 {1, 3, 1 + 33 + 4}, {2, 3, 1 + 33 + 2 + 6}, {3, 3, 1 + 33 + 18}};
    for (const auto& one : cases) {
        const auto step = simulate_step(kWork, one.micro_batches, whole, line(0, 0.1), 0,
                                        {.stage = one.stage, .sharing_ranks = 3});
        EXPECT_NEAR(step.step_s, one.step_s, kNear) << one.stage << ", " << one.micro_batches;
    }
    // The first bucket of backward is the last one of forward, which needs it after half of it.
    const std::vector<Gradient> halves{{20, 0.5}, {20, 1}};
    EXPECT_NEAR(simulate_step(kWork, 1, halves, line(0, 0.1), 0, {.stage = 1}).step_s, 14 + 1 + 1,
                kNear);
}

TEST(SimulatedStep, WaitsForTheLoader) {
    RankWork loading = kWork;
    loading.loader_s = 40;
    const auto step = simulate_step(loading, 1, even_gradients(1, 40), line(0, 0.1), 0);
    EXPECT_NEAR(step.step_s, 40, kNear);
    EXPECT_NEAR(step.compute_s, 40, kNear);
}

TEST(SimulatedStep, BucketsCloseAtTheirCap) {
    const auto buckets = buckets_of(even_gradients(8, 10), 10, 25);
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
