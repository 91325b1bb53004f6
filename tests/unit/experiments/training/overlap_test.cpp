// The estimate from pairs, on made-up ones whose overlap is known.
#include "experiments/training/communication.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ranklab::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Steps of 100 ms whose communication takes 40 ms, of which `hidden` ms are behind backward; each
// pair is a little off, on both sides alike.
OverlapPairs pairs_of(double hidden, std::size_t count = 8) {
    OverlapPairs pairs;
    for (std::size_t i = 0; i < count; ++i) {
        const double off = 1e-4 * (static_cast<double>(i % 4) - 1.5);
        pairs.without.push_back(0.100);
        pairs.with.push_back(0.140 - hidden / 1e3 + off);
        pairs.backward_without.push_back(0.050);
        pairs.backward_with.push_back(0.050);
        pairs.total.push_back(0.040 + off);
        pairs.inside_backward.push_back(hidden / 1e3);
    }
    return pairs;
}

TEST(Overlap, IsWhatItWasMadeOf) {
    const auto found = estimate_overlap(pairs_of(30));
    EXPECT_THAT(found.why_none, IsEmpty());
    EXPECT_NEAR(found.overlap, 0.75, 0.01);
    EXPECT_LE(found.ci.low, found.overlap);
    EXPECT_GE(found.ci.high, found.overlap);
    EXPECT_GT(found.ci.low, 0.70);
    EXPECT_LT(found.ci.high, 0.80);
    EXPECT_NEAR(found.balance, 1, 0.01);
    EXPECT_NEAR(found.hidden, 0.030, 1e-9);
}

// Steps whose communication takes 20 to 60 ms, a quarter of it exposed in each: the share is known
// well, though neither of its two times is.
TEST(Overlap, IsOfPairs) {
    OverlapPairs pairs = pairs_of(30, 8);
    for (std::size_t i = 0; i < pairs.with.size(); ++i) {
        pairs.total[i] = 0.020 + 0.040 * static_cast<double>(i) / 7;
        pairs.with[i] = pairs.without[i] + pairs.total[i] / 4;
        pairs.inside_backward[i] = pairs.total[i] * 3 / 4;
    }
    const auto found = estimate_overlap(pairs);
    EXPECT_NEAR(found.overlap, 0.75, 1e-9);
    EXPECT_NEAR(found.ci.low, 0.75, 1e-9);
    EXPECT_NEAR(found.ci.high, 0.75, 1e-9);
}

// The issue saw "-81.6 % of the communication is hidden", with a balance of 1.82.
TEST(Overlap, IsNotToldWhereStampsAndStepsDisagree) {
    OverlapPairs pairs = pairs_of(0);
    for (auto& with : pairs.with) with += 0.0327;
    const auto found = estimate_overlap(pairs);
    EXPECT_TRUE(std::isnan(found.overlap));
    EXPECT_TRUE(std::isnan(found.ci.low) && std::isnan(found.ci.high));
    EXPECT_NEAR(found.balance, 1.82, 0.01);
    EXPECT_THAT(found.why_none, HasSubstr("balance 1.82"));
}

TEST(Overlap, IsNotToldOutsideItsRange) {
    OverlapPairs pairs = pairs_of(0);
    for (auto& with : pairs.with) with += 0.004;
    const auto none = estimate_overlap(pairs);
    EXPECT_TRUE(std::isnan(none.overlap));
    EXPECT_THAT(none.why_none, HasSubstr("-10.0 %"));
    EXPECT_THAT(none.why_none, HasSubstr("undecided"));
    pairs = pairs_of(40);
    for (auto& with : pairs.with) with -= 0.004;
    const auto more = estimate_overlap(pairs);
    EXPECT_TRUE(std::isnan(more.overlap));
    EXPECT_THAT(more.why_none, HasSubstr("110.0 %"));
}

TEST(Overlap, IsNotToldOfFewPairs) {
    const auto few = estimate_overlap(pairs_of(30, 5));
    EXPECT_TRUE(std::isnan(few.overlap));
    EXPECT_THAT(few.why_none, HasSubstr("5 pairs"));
    EXPECT_THAT(estimate_overlap(pairs_of(30, 6)).why_none, IsEmpty());
    EXPECT_FALSE(estimate_overlap({}).why_none.empty());
}

// Half of the pairs say that all is exposed twice, half that step times fell: their median is in
// the middle.
TEST(Overlap, IsNotToldWhereTheIntervalLeavesAllOpen) {
    OverlapPairs pairs = pairs_of(20, 8);
    for (std::size_t i = 0; i < pairs.with.size(); ++i)
        pairs.with[i] += i % 2 == 0 ? 0.050 : -0.050;
    const auto found = estimate_overlap(pairs);
    EXPECT_TRUE(std::isnan(found.overlap));
    EXPECT_THAT(found.why_none, HasSubstr("--overlap-steps"));
}

TEST(Overlap, IsNotToldWhereTheHostSeesNothing) {
    OverlapPairs pairs = pairs_of(30);
    pairs.total.clear();
    pairs.inside_backward.clear();
    const auto found = estimate_overlap(pairs);
    EXPECT_TRUE(std::isnan(found.overlap));
    EXPECT_EQ(found.exposed.size(), 8U) << "the steps' times stand";
    EXPECT_FALSE(found.why_none.empty());
}

// The time by which backward got longer was not hidden.
TEST(Overlap, TimeThatBackwardPaidIsNotHidden) {
    OverlapPairs pairs = pairs_of(30);
    for (auto& with : pairs.with) with += 0.010;
    for (auto& backward : pairs.backward_with) backward += 0.010;
    const auto found = estimate_overlap(pairs);
    EXPECT_NEAR(found.hidden, 0.020, 1e-9);
    EXPECT_NEAR(found.overlap, 0.5, 0.01);
    EXPECT_NEAR(found.balance, 1, 0.01);
}

}  // namespace
}  // namespace ranklab::experiments
