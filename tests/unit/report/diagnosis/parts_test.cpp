#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/diagnosis/diagnosis.hpp"
#include "report/model/steps.hpp"

namespace ranklab::report::diagnosis {
namespace {

using model::Parts, model::parts_of;
using ::testing::ElementsAre;
using Values = std::vector<double>;  // row-major [step, rank]

results::Run steps_run(std::size_t ranks, const Values& step, const Values& input,
                       const Values& wait, const Values& update) {
    results::Run run;
    run.config = {{"mode", "ddp", false}, {"sync", "bucketed", false}};
    run.hosts.resize(ranks);
    for (const auto& [name, samples] : {std::pair{"step_time_s", step},
                                        {"data_time_s", input},
                                        {"sync_exposed_time_s", wait},
                                        {"optimizer_time_s", update}})
        run.measurements.push_back(
            {name, "s", results::Kind::cost, "max", "step", ranks, samples, {}, {}});
    return run;
}

// Every step takes the last rank's time plus `transfer_s`.
results::Run waiting_run(std::size_t ranks, const Values& compute, const Values& input,
                         double transfer_s) {
    Values step, wait;
    for (std::size_t row = 0; row < compute.size(); row += ranks) {
        double last = 0;
        for (std::size_t i = row; i < row + ranks; ++i)
            last = std::max(last, compute[i] + input[i]);
        step.insert(step.end(), ranks, last + transfer_s);
    }
    for (std::size_t i = 0; i < compute.size(); ++i)
        wait.push_back(step[i] - compute[i] - input[i]);
    return steps_run(ranks, step, input, wait, Values(compute.size()));
}

Parts whole_of(const results::Run& run) {
    return parts_of(run, 0, run.measurements.front().rows());
}

struct Levels {
    const char* name;
    results::Run run;
    decltype(Parts::level_s) level_s;
};

std::vector<Levels> levels() {
    auto slow_node = waiting_run(4, {1, 1, 3, 3}, {0, 0, 0, 0}, 0);
    for (const std::size_t rank : {2, 3}) slow_node.hosts[rank].host = "n2";
    return {
        {"a slow node", slow_node, {1, 1, 1, 3, 3, 3, 3, 3, 3}},
        {"one rank", waiting_run(1, {3, 5}, {0, 0}, 0), {4, 4, 4, 4, 4, 4, 4, 4, 4}},
        {"waits for samples", waiting_run(1, {1, 1}, {3, 3}, 0), {1, 1, 4, 4, 4, 4, 4, 4, 4}},
        {"a slow rank", waiting_run(2, {1, 3, 1, 3}, {0, 0, 0, 0}, 0), {1, 1, 1, 1, 3, 3, 3, 3, 3}},
        {"now one, now another",
         waiting_run(2, {1, 3, 3, 1}, {0, 0, 0, 0}, 0),
         {2, 2, 2, 2, 2, 3, 3, 3, 3}},
        {"a slow network", waiting_run(2, {2, 2}, {0, 0}, 2), {2, 2, 2, 2, 2, 2, 2, 2, 4}},
        {"one is late for samples", waiting_run(2, {2, 2}, {0, 4}, 0), {2, 2, 2, 2, 6, 6, 6, 6, 6}},
    };
}

TEST(Parts, LevelsOfTheMeanStep) {
    for (const auto& one : levels()) {
        SCOPED_TRACE(one.name);
        const auto found = whole_of(one.run);
        for (std::size_t i = 0; i < one.level_s.size(); ++i)
            EXPECT_DOUBLE_EQ(found.level_s[i], one.level_s[i]) << i;
        double product = 1, lost = found.computing_s();
        for (std::size_t i = 0; i < Parts::kLosses; ++i) {
            product *= found.factor(Parts::Loss(i));
            lost += found.lost_s(Parts::Loss(i));
        }
        EXPECT_DOUBLE_EQ(product, found.parallel());
        EXPECT_DOUBLE_EQ(lost, found.step_s());
    }
}

// A rank with a late update starts the next step late: other ranks wait only for the sum.
TEST(Parts, TheIdealNetworkHasNoBarrierAfterTheUpdate) {
    const auto run = steps_run(2, {4, 4, 4, 4}, {0, 0, 0, 0}, {2, 0, 0, 2}, {0, 2, 0, 0});
    // The sums end after 2 and max(2 + 4, 4 + 2) = 6 s.
    EXPECT_DOUBLE_EQ(2 * whole_of(run).level_s[5], 6);
}

TEST(Parts, RanksThatDoNotSumDoNotWait) {
    auto run = waiting_run(2, {1, 3, 3, 1}, {0, 0, 0, 0}, 0);
    run.config.back().value = "none";
    EXPECT_DOUBLE_EQ(whole_of(run).lost_s(Parts::serialisation), 0);
}

results::Run with_core_waits(results::Run run, const Values& outside, const Values& in_sync) {
    for (const auto& [name, samples] :
         {std::pair{"core_wait_time_s", outside}, {"core_wait_in_sync_time_s", in_sync}})
        run.measurements.push_back({std::string(name),
                                    "s",
                                    results::Kind::cost,
                                    "max",
                                    "step",
                                    run.hosts.size(),
                                    samples,
                                    {},
                                    {}});
    return run;
}

// The four phases in which --mode dp moves data are no computing.
TEST(Parts, MovingBetweenReplicasIsALossOfItsOwn) {
    auto run = steps_run(1, {10, 10}, {1, 1}, {0, 0}, {1, 1});
    for (const auto* phase :
         {"scatter_time_s", "replicate_time_s", "gather_time_s", "reduce_time_s"})
        run.measurements.push_back(
            {phase, "s", results::Kind::cost, "max", "step", 1, {1.5, 1.5}, {}, {}});
    run.config[0].value = "dp";
    run.config.push_back({"replicas", "2", true});
    EXPECT_THAT(whole_of(run).level_s, ElementsAre(3, 9, 10, 10, 10, 10, 10, 10, 10));
    const auto found = diagnose(run);
    EXPECT_EQ(found.cause, Cause::replicas);
    EXPECT_EQ(found.advice.at(0, "option").text, "mpirun -n 2 ranklab train --mode ddp");
}

// Beside other load, when moving data waits for cores, too: no part is negative.
TEST(Parts, OfReplicasBesideOtherLoadAreNotNegative) {
    auto run = with_core_waits(steps_run(1, {10, 10}, {0, 0}, {0, 0}, {0, 0}), {6, 6}, {0, 0});
    run.measurements.push_back(
        {"reduce_time_s", "s", results::Kind::cost, "max", "step", 1, {5, 5}, {}, {}});
    EXPECT_THAT(whole_of(run).level_s, ElementsAre(2, 4, 4, 4, 4, 4, 10, 10, 10));
}

// A rank that waits for a core is not late, and what it computes is not longer.
TEST(Parts, WaitsForCoresAreALossOfTheirOwn) {
    const auto run = with_core_waits(waiting_run(2, {2, 4}, {0, 0}, 2), {0, 2}, {0, 0});
    EXPECT_THAT(whole_of(run).level_s, ElementsAre(2, 2, 2, 2, 2, 2, 4, 4, 6));
    EXPECT_THAT(parts_of(run, 0, 1, 0.5).level_s, ElementsAre(2, 2, 2, 2, 3, 3, 4, 4, 6));
    EXPECT_THAT(parts_of(run, 0, 1, 0).level_s, ElementsAre(2, 2, 2, 2, 4, 4, 4, 4, 6));
}

// A compute thread that makes the batch itself waits there, too: 3 of its 4 s at work.
TEST(Parts, WaitsForCoresWhileMakingABatch) {
    auto run = with_core_waits(waiting_run(1, {1}, {3}, 0), {2}, {0});
    run.config.push_back({"workers", "0", true});
    run.measurements.push_back(
        {"loader_decode_time_s", "s", results::Kind::cost, "max", "step", 1, {3}, {}, {}});
    EXPECT_DOUBLE_EQ(whole_of(run).lost_s(Parts::cores), 0.5);
    run.config.back().value = "1";
    EXPECT_DOUBLE_EQ(whole_of(run).lost_s(Parts::cores), 1);
}

// While gradients are summed, a wait for a core is a loss only after the last rank has come.
TEST(Parts, WaitsForCoresInTheSum) {
    const auto run = waiting_run(2, {2, 4}, {0, 0}, 2);
    EXPECT_DOUBLE_EQ(whole_of(with_core_waits(run, {0, 0}, {1.5, 0})).lost_s(Parts::cores), 1.5);
    EXPECT_DOUBLE_EQ(whole_of(with_core_waits(run, {0, 0}, {3, 0})).lost_s(Parts::cores), 2);
}

// The others' wait for a straggler that computes no longer than they do.
TEST(Parts, ALateHandoverIsNoTransfer) {
    auto run = waiting_run(2, {1, 1}, {0, 0}, 9);
    results::Rows waiting("waiting");
    waiting.add({std::int64_t{0}, std::string("n1"), 7.0, 0.0, std::string("none"), 0.0});
    waiting.add({std::int64_t{1}, std::string("n1"), 0.0, 1.0, std::string("none"), 0.0});
    run.tables.push_back(std::move(waiting).table());
    EXPECT_DOUBLE_EQ(whole_of(run).lost_s(Parts::handover), 0) << "no straggler";
    run.context.push_back({"communication", "late_rank", "1"});
    const auto found = whole_of(run);
    EXPECT_DOUBLE_EQ(found.lost_s(Parts::handover), 7);
    EXPECT_DOUBLE_EQ(found.lost_s(Parts::transfer), 2);
    const auto why = diagnose(run).why;
    EXPECT_NE(why.find("rank 1 on n1 (its sync phase"), std::string::npos) << why;
}

TEST(Parts, OfAnAblationAreTheWaterfalls) {
    results::Run run;
    results::Rows falls("waterfall");
    for (const auto& [part, seconds] : {std::pair{"compute", 2.0},
                                        {"imbalance", 1.0},
                                        {"communication", 4.0},
                                        {"input", -1.0},
                                        {"rest", 0.5}})
        falls.add({std::string(part), seconds, 0.0, 0.0, 0.0});
    run.tables.push_back(std::move(falls).table());
    EXPECT_THAT(parts_of(run, 0, 0).level_s, ElementsAre(2, 2, 2, 2, 3, 3, 3, 3, 7));
}

TEST(Parts, OfSomeStepsAreThoseSteps) {
    EXPECT_DOUBLE_EQ(parts_of(waiting_run(1, {3, 5}, {0, 0}, 0), 1, 2).step_s(), 5);
}

}  // namespace
}  // namespace ranklab::report::diagnosis
