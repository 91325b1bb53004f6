// The analysis of the stamps, on made-up steps whose answer is known.
#include "experiments/training/communication.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.hpp"
#include "base/pack.hpp"
#include "experiments/shared/measurements.hpp"
#include "experiments/training/options.hpp"
#include "many_ranks.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::experiments {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

ReductionTimes at(double start, double end) {
    return {start, start, start, end};
}

// Rank 1 comes 30 ms later, on a clock that is far off. The transfer is 10 ms.
TEST(Analysis, TheLastRankWaitsForNobody) {
    const StepReductions early{0.010, 0.050, {at(0.020, 0.060)}};
    const StepReductions late{7.010, 7.050, {at(7.050, 7.060)}};
    const auto step = analyse({early, late});
    EXPECT_NEAR(step.transfer, 0.010, 1e-12);
    EXPECT_THAT(step.wait, ElementsAre(DoubleNear(0.030, 1e-12), DoubleNear(0, 1e-12)));
    EXPECT_EQ(step.last_rank, 1U);
    EXPECT_NEAR(step.hidden, 0, 1e-12) << "on the late rank it began when backward was over";
}

TEST(Analysis, HiddenIsWhatLiesInsideBackward) {
    const StepReductions rank{0.0, 0.100, {at(0.020, 0.050), at(0.080, 0.120), at(0.120, 0.130)}};
    const auto step = analyse({rank, rank});
    EXPECT_NEAR(step.transfer, 0.030 + 0.040 + 0.010, 1e-12);
    EXPECT_NEAR(step.hidden, 0.030 + 0.020, 1e-12);
    EXPECT_THAT(
        column_of(step.reductions, &ReductionAnalysis::transfer),
        ElementsAre(DoubleNear(0.030, 1e-12), DoubleNear(0.040, 1e-12), DoubleNear(0.010, 1e-12)));
    EXPECT_THAT(step.wait, ElementsAre(DoubleNear(0, 1e-12), DoubleNear(0, 1e-12)));
}

// Where it is seen when all ranks have come, what lies before is waiting on every rank.
TEST(Analysis, WaitingBeforeTheMoveIsNotCommunication) {
    const StepReductions early{0.0, 0.1, {{0.010, 0.010, 0.040, 0.045}}};
    const StepReductions late{0.0, 0.1, {{0.039, 0.039, 0.040, 0.045}}};
    const auto step = analyse({early, late});
    EXPECT_NEAR(step.transfer, 0.005, 1e-12);
    EXPECT_THAT(step.wait, ElementsAre(DoubleNear(0.030, 1e-12), DoubleNear(0.001, 1e-12)));
    EXPECT_EQ(step.last_rank, 1U);
}

// A reduction that was handed over waits; its rank is in backward meanwhile, and waits for nobody.
// By hand: gradients are there at 50 ms here and at 80 ms there, and only then the first sum is
// moved, in 10 ms.
TEST(Analysis, ARankInItsBackwardDoesNotWait) {
    const ReductionTimes early[] = {{0.010, 0.010, 0.080, 0.090}, {0.050, 0.090, 0.090, 0.092}};
    const ReductionTimes late[] = {{7.040, 7.040, 7.080, 7.090}, {7.080, 7.090, 7.090, 7.092}};
    // Backward ends at 50 ms; or at 95 ms and contains the wait for the sums, as with c10d.
    for (const double end : {0.050, 0.095}) {
        const auto step =
            analyse({{0.0, end, {early[0], early[1]}}, {7.030, 7.080, {late[0], late[1]}}});
        EXPECT_THAT(step.wait, ElementsAre(DoubleNear(0.070, 1e-12), DoubleNear(0.040, 1e-12)));
        EXPECT_THAT(step.idle, ElementsAre(DoubleNear(0.030, 1e-12), DoubleNear(0, 1e-12)))
            << "from 50 to 80 ms, and not the whole of its backward";
        EXPECT_EQ(step.last_rank, 1U);
    }
}

// With the blocking transfer each rank learns for itself when all have come, and the one that
// learns it first waits in there for the other. By hand: rank 0 is handed over last (39 ms) but
// sees at 40 ms that all have come; rank 1 sees it at 47 ms, since it looks late; the sum is there
// at 52 ms. What travelled took 5 ms.
TEST(Analysis, TheTransferIsTheShortestMove) {
    const StepReductions looks_late{0.0, 0.050, {{0.010, 0.010, 0.047, 0.052}}};
    const StepReductions comes_last{0.0, 0.050, {{0.039, 0.039, 0.040, 0.052}}};
    const auto step = analyse({comes_last, looks_late});
    EXPECT_NEAR(step.transfer, 0.005, 1e-12) << "not the 12 ms of the rank that came last";
    EXPECT_THAT(step.wait, ElementsAre(DoubleNear(0.008, 1e-12), DoubleNear(0.037, 1e-12)));
    EXPECT_EQ(step.last_rank, 0U);
    EXPECT_NEAR(step.hidden, 0.003, 1e-12) << "of 47 to 52 ms, what lies before 50";
}

StepReductions numbered(std::size_t step) {
    return {static_cast<double>(step), static_cast<double>(step) + 1, {at(0, 1)}};
}

TEST(SampledSteps, AreSpreadOverARunOfAnyLength) {
    SampledSteps all(8);
    for (std::size_t step = 0; step < 8; ++step) all.add(numbered(step));
    EXPECT_EQ(all.steps().size(), 8U);
    SampledSteps some(8);
    for (std::size_t step = 0; step < 1000; ++step) {
        some.add(numbered(step));
        ASSERT_LE(some.steps().size(), 8U);
        const double apart = some.steps().size() > 1 ? some.steps()[1].backward_begin : 1;
        for (std::size_t i = 0; i < some.steps().size(); ++i)
            ASSERT_EQ(some.steps()[i].backward_begin, static_cast<double>(i) * apart) << step;
        ASSERT_LT(static_cast<double>(step) - some.steps().back().backward_begin, apart)
            << "none is left out";
    }
    EXPECT_EQ(some.seen(), 1000U);
    SampledSteps odd(3);
    for (std::size_t step = 0; step < 100; ++step) odd.add(numbered(step));
    EXPECT_EQ(odd.steps().back().backward_begin, 64);
}

// Rank 0 is late in the second half of the run alone, and so in half of what is looked at.
TEST(Lateness, IsOfTheWholeRun) {
    SampledSteps mine;
    for (std::size_t step = 0; step < 4000; ++step)
        mine.add({0, 0.1, {at(step < 2000 ? 0.100 : 0.190, 0.200)}});
    testing::ManyRanks control(100, [](int rank, comm::BufferView part) {
        auto step =
            base::unpacked<StepReductions>({static_cast<const char*>(part.data), part.bytes()});
        if (rank == 0 || !step) return;
        auto& times = step->reductions.front();
        times.ready = times.start = times.moving = 0.150;
        std::memcpy(part.data, base::packed(*step).data(), part.bytes());
    });
    results::Run run;
    StepMedians medians{{100, std::vector<double>(base::kPhaseCount * 100, 0.0)}, 0.2};
    add_reductions(run, mine, {{4}, {1}}, medians, control);
    EXPECT_EQ(run.fact("communication", "steps_looked_at"), "1000 of 4000");
    const auto* waiting = run.find_table("waiting");
    ASSERT_NE(waiting, nullptr);
    EXPECT_NEAR(waiting->find<double>("came_last_share")->front(), 0.5, 0.01);
}

// The issue saw "rank 0 came last in 100 % of the steps", from two of them.
TEST(Lateness, IsNotToldOfFewSteps) {
    for (const std::size_t ranks : {2U, 3U, 8U, 1024U}) {
        for (std::size_t steps = 0; steps < 6; ++steps)
            EXPECT_FALSE(mostly_last(steps, steps, ranks))
                << steps << " steps, " << ranks << " ranks";
        EXPECT_TRUE(mostly_last(20, 20, ranks)) << ranks;
        EXPECT_FALSE(mostly_last(79, 100, ranks)) << ranks;
        EXPECT_TRUE(mostly_last(80, 100, ranks)) << ranks;
    }
}

// By hand: of two equal ranks one comes last in all of n steps with probability 2 / 2^n, which is
// 0.00195 at 10 and 0.00098 at 11; in 16 or more of 20 with 2 x 0.00591, in 18 or more with 2 x
// 0.00020.
TEST(Lateness, IsNotToldWhereLuckMakesIt) {
    EXPECT_FALSE(mostly_last(10, 10, 2));
    EXPECT_TRUE(mostly_last(11, 11, 2));
    EXPECT_FALSE(mostly_last(16, 20, 2));
    EXPECT_TRUE(mostly_last(18, 20, 2));
    EXPECT_TRUE(mostly_last(6, 6, 8)) << "8 / 8^6";
}

TEST(Delay, IsReadOrRefused) {
    const auto delay = parse_delay("1:backward:50", 2);
    ASSERT_TRUE(delay);
    EXPECT_EQ(delay->rank, 1);
    EXPECT_EQ(delay->phase, base::Phase::backward);
    EXPECT_EQ(delay->ms, 50);
    EXPECT_FALSE(parse_delay("", 2));
    for (const char* bad : {"1", "2:backward:50", "-1:backward:5", "1:lunch:50", "1:data:x",
                            "1:data:-5", "1:data:inf", "1:data:5:5", "1:data:", ":data:5"}) {
        const auto sentence =
            ranklab::tests::thrown_sentence<base::OptionError>([&] { parse_delay(bad, 2); });
        EXPECT_THAT(sentence, ::testing::HasSubstr("RANK:PHASE:MS")) << bad;
    }
}

}  // namespace
}  // namespace ranklab::experiments
