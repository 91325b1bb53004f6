#include "forecast/pop.hpp"

#include <gtest/gtest.h>

namespace ranklab::forecast {
namespace {

struct Case {
    const char* name;
    StepMatrix steps;
    decltype(Efficiencies::level_s) level_s;
};

// Steps that all take as long as the last rank and a transfer of `transfer_s`.
StepMatrix steps_of(std::vector<std::string> nodes, std::vector<double> compute,
                    std::vector<double> input, double transfer_s, double update_s = 0) {
    StepMatrix all{.node_of = std::move(nodes),
                   .input_s = std::move(input),
                   .update_s = std::vector<double>(compute.size(), update_s)};
    for (std::size_t row = 0; row < compute.size(); row += all.node_of.size()) {
        double last = 0;
        for (std::size_t i = row; i < row + all.node_of.size(); ++i)
            last = std::max(last, compute[i] + all.input_s[i]);
        all.step_s.insert(all.step_s.end(), all.node_of.size(), last + transfer_s);
    }
    for (std::size_t i = 0; i < compute.size(); ++i)
        all.wait_s.push_back(all.step_s[i] - compute[i] - all.input_s[i]);
    return all;
}

std::vector<Case> cases() {
    return {
        {"one rank", steps_of({"0"}, {3, 5}, {0, 0}, 0), {4, 4, 4, 4, 4, 4}},
        {"waits for samples", steps_of({"0"}, {1, 1}, {3, 3}, 0), {1, 1, 1, 4, 4, 4}},
        {"a slow rank", steps_of({"0", "0"}, {1, 3, 1, 3}, {0, 0, 0, 0}, 0), {2, 2, 3, 3, 3, 3}},
        {"a slow node",
         steps_of({"0", "0", "1", "1"}, {1, 1, 3, 3}, {0, 0, 0, 0}, 0),
         {2, 3, 3, 3, 3, 3}},
        {"now one, now another",
         steps_of({"0", "0"}, {1, 3, 3, 1}, {0, 0, 0, 0}, 0),
         {2, 2, 2, 2, 3, 3}},
        {"a slow network", steps_of({"0", "1"}, {2, 2}, {0, 0}, 2), {2, 2, 2, 2, 2, 4}},
        {"good", steps_of({"0", "1"}, {4, 4}, {0, 0}, 1), {4, 4, 4, 4, 4, 5}},
        {"one is late for samples", steps_of({"0", "0"}, {2, 2}, {0, 4}, 0), {2, 2, 2, 6, 6, 6}},
    };
}

TEST(Pop, LevelsOfTheMeanStep) {
    for (const auto& one : cases()) {
        SCOPED_TRACE(one.name);
        const auto found = efficiencies_of(one.steps);
        for (std::size_t i = 0; i < one.level_s.size(); ++i)
            EXPECT_DOUBLE_EQ(found.level_s[i], one.level_s[i]) << i;
        double product = 1, lost = found.computing_s();
        for (std::size_t i = 0; i < Efficiencies::kLosses; ++i) {
            product *= found.factor(Efficiencies::Loss(i));
            lost += found.lost_s(Efficiencies::Loss(i));
        }
        EXPECT_DOUBLE_EQ(product, found.parallel());
        EXPECT_DOUBLE_EQ(lost, found.step_s());
    }
}

// A rank that updates late is late in the next step as well: only the sum is waited for.
TEST(Pop, TheIdealNetworkHasNoBarrierAfterTheUpdate) {
    const StepMatrix steps{{"0", "0"}, {4, 4, 4, 4}, {0, 0, 0, 0}, {2, 0, 0, 2}, {0, 2, 0, 0}};
    // Sums at 2 and max(2 + 4, 4 + 2) = 6.
    EXPECT_DOUBLE_EQ(2 * efficiencies_of(steps).level_s[4], 6);
}

TEST(Pop, RanksThatDoNotSumDoNotWait) {
    auto steps = steps_of({"0", "0"}, {1, 3, 3, 1}, {0, 0, 0, 0}, 0);
    steps.synchronised = false;
    EXPECT_DOUBLE_EQ(efficiencies_of(steps).lost_s(Efficiencies::serialisation), 0);
}

}  // namespace
}  // namespace ranklab::forecast
