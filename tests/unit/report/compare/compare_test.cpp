// What is compared, what is refused, and what the verdicts are.
#include "report/compare/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "thrown_sentence.hpp"
#include "unit/report/compare_sample.hpp"

namespace ranklab::report::compare {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Comparison compared(const Side& a, const Side& b, const CompareOptions& options = {}) {
    return compare(a, b, options);
}

std::string refusal(const Side& a, const Side& b, const CompareOptions& options = {}) {
    return tests::thrown_sentence<base::OptionError>([&] { compare(a, b, options); });
}

const CompareRow& row(const Comparison& comparison, const std::string& name = "step_time_s") {
    static const CompareRow kNoRow;
    for (const auto& group : comparison.groups)
        for (const auto& one : group.rows)
            if (one.measurement == name) return one;
    ADD_FAILURE() << "there is no row " << name;
    return kNoRow;
}

void add(Side& side, const std::string& name, const std::string& unit, results::Kind kind, double factor) {
    for (auto& run : side.runs)
        run.measurements.push_back(median_of(name, unit, kind, factor * run.median("step_time_s")));
}

TEST(Compare, TellsWorseBetterAndSame) {
    const Side a = steady_side("A", 9, 0.1);
    EXPECT_EQ(row(compared(a, steady_side("B", 9, 0.12))).outcome, Outcome::worse);
    EXPECT_EQ(row(compared(a, steady_side("B", 9, 0.08))).outcome, Outcome::better);
    EXPECT_EQ(row(compared(a, steady_side("B", 9, 0.102))).outcome, Outcome::same);
    const auto worse = row(compared(a, steady_side("B", 9, 0.12)));
    EXPECT_NEAR(worse.difference.ratio.ratio, 1.2, 1e-3);
    EXPECT_NEAR(worse.median_a, 0.1, 1e-4);
    EXPECT_LT(worse.corrected_p, 0.001);
    EXPECT_DOUBLE_EQ(worse.difference.test.effect, 1);
}

void made_by(Side& side, const std::vector<std::string>& processes) {
    for (std::size_t i = 0; i < side.runs.size(); ++i)
        side.runs[i].context.push_back({"process", "instance", processes[i % processes.size()]});
}

// `train --repetitions 9`: nine runs of one process are one piece of evidence.
TEST(Compare, RepetitionsWithinAProcessAreNoIndependentRuns) {
    Side a = steady_side("A", 9, 0.1), b = steady_side("B", 9, 0.12);
    made_by(a, {"n1 17 1"});
    made_by(b, {"n1 18 2"});
    const auto comparison = compared(a, b);
    EXPECT_EQ(row(comparison).outcome, Outcome::too_few_runs);
    EXPECT_EQ(row(comparison).difference.n_a, 1U);
    EXPECT_NEAR(row(comparison).median_a, 0.1 * (1 + 4e-4), 1e-9) << "the median of its nine";
    EXPECT_EQ(comparison.overall(), "inconclusive");
    ASSERT_EQ(comparison.groups.size(), 1U);
    EXPECT_THAT(comparison.groups[0].notes,
                AllOf(Contains(HasSubstr("the 9 runs of A were made by 1 process:")),
                      Contains(HasSubstr("the 9 runs of B were made by 1 process:"))));
}

TEST(Compare, EachProcessCountsOnce) {
    Side a = steady_side("A", 10, 0.1), b = steady_side("B", 10, 0.12);
    made_by(a, {"n1 1 1", "n1 2 2", "n1 3 3", "n1 4 4", "n1 5 5"});
    std::vector<std::string> own;
    for (int i = 0; i < 10; ++i) own.push_back("n2 " + std::to_string(i) + " 7");
    made_by(b, own);
    const auto comparison = compared(a, b);
    EXPECT_EQ(row(comparison).difference.n_a, 5U);
    EXPECT_EQ(row(comparison).difference.n_b, 10U);
    EXPECT_EQ(row(comparison).outcome, Outcome::worse);
    EXPECT_THAT(comparison.groups[0].notes, Contains(HasSubstr("the 10 runs of A were made by 5 processes")));
    EXPECT_THAT(comparison.groups[0].notes, Not(Contains(HasSubstr("of B were made"))));
}

TEST(Compare, TheSmallestChangeOfInterestDecides) {
    const Side a = steady_side("A", 9, 0.1), b = steady_side("B", 9, 0.102);
    EXPECT_EQ(row(compared(a, b)).outcome, Outcome::same);
    EXPECT_EQ(row(compared(a, b, {.smallest = 0.01})).outcome, Outcome::worse);
}

TEST(Compare, ARateIsBetterWhenHigherAndACountHasNoDirection) {
    Side a = steady_side("A", 9, 0.1), b = steady_side("B", 9, 0.12);
    for (Side* side : {&a, &b}) {
        add(*side, "throughput_samples_per_s", "samples/s", results::Kind::rate, 100);
        add(*side, "threads", "1", results::Kind::count, 10);
        add(*side, "validation_accuracy", "1", results::Kind::ratio, 1);
        add(*side, "train_loss", "1", results::Kind::ratio, 1);
    }
    const auto all = compared(a, b, {.measurements = {"all"}});
    EXPECT_EQ(row(all, "throughput_samples_per_s").outcome, Outcome::better);
    EXPECT_EQ(row(all, "threads").outcome, Outcome::changed);
    EXPECT_EQ(row(all, "validation_accuracy").outcome, Outcome::better);
    EXPECT_EQ(row(all, "train_loss").outcome, Outcome::worse);
    EXPECT_EQ(all.overall(), "worse");
    EXPECT_EQ(compared(a, b, {.measurements = {"threads"}}).overall(), "changed");
}

TEST(Compare, CountsThatAreZeroOnBothSidesAreTheSame) {
    Side a = steady_side("A", 6, 0.1), b = steady_side("B", 6, 0.1);
    add(a, "wrong_elements", "1", results::Kind::count, 0);
    add(b, "wrong_elements", "1", results::Kind::count, 0);
    EXPECT_EQ(row(compared(a, b, {.measurements = {"wrong_elements"}}), "wrong_elements").outcome,
              Outcome::same);
}

TEST(Compare, TheHeadlineIsComparedUnlessOthersAreAskedFor) {
    Side a = steady_side("A", 6, 0.1), b = steady_side("B", 6, 0.1);
    for (Side* side : {&a, &b}) add(*side, "data_time_s", "s", results::Kind::cost, 0.1);
    EXPECT_EQ(compared(a, b).groups.front().rows.size(), 1U);
    EXPECT_EQ(compared(a, b, {.measurements = {"all"}}).groups.front().rows.size(), 2U);
    EXPECT_EQ(compared(a, b, {.measurements = {"data_time_s"}}).groups.front().rows.front().measurement,
              "data_time_s");
    EXPECT_THAT(refusal(a, b, {.measurements = {"data_tim_s"}}),
                AllOf(HasSubstr("'data_tim_s'"), HasSubstr("did you mean data_time_s")));
}

TEST(Compare, WhatIsLearnedCountsByItsLastEpoch) {
    Side a = steady_side("A", 5, 0.1), b = steady_side("B", 5, 0.1);
    for (Side* side : {&a, &b}) {
        add(*side, "validation_accuracy", "1", results::Kind::ratio, 1);
        for (auto& run : side->runs)
            run.tables.push_back({"epochs", {{"validation_accuracy", std::vector<double>{0.5, 0.875}}}});
    }
    const auto accuracy =
        row(compared(a, b, {.measurements = {"validation_accuracy"}}), "validation_accuracy");
    EXPECT_DOUBLE_EQ(accuracy.median_a, 0.875);
    EXPECT_EQ(accuracy.outcome, Outcome::same);
}

// The corrected p of one row depends on how many rows there are.
TEST(Compare, PValuesAreCorrectedOverAllRows) {
    Side a = noisy_side("A", 8, 0.1, 0.02, 1), b = noisy_side("B", 8, 0.11, 0.02, 2);
    const double alone = row(compared(a, b)).corrected_p;
    for (int i = 0; i < 4; ++i)
        for (Side* side : {&a, &b}) add(*side, fmt::format("other{}_time_s", i), "s", results::Kind::cost, 1);
    const auto all = compared(a, b, {.measurements = {"all"}});
    EXPECT_NEAR(row(all).corrected_p, 5 * alone, 1e-12);
    EXPECT_DOUBLE_EQ(row(all).difference.test.p, alone);
}

TEST(Compare, FourRunsASideAreTooFew) {
    const auto few = compared(steady_side("A", 4, 0.1), steady_side("B", 9, 0.2));
    EXPECT_EQ(row(few).outcome, Outcome::too_few_runs);
    EXPECT_TRUE(std::isnan(row(few).corrected_p));
    EXPECT_GE(row(few).runs_needed, stats::kFewestRuns);
    EXPECT_EQ(few.overall(), "inconclusive");
    EXPECT_EQ(row(compared(steady_side("A", 5, 0.1), steady_side("B", 5, 0.2))).outcome, Outcome::worse);
}

// A run's steps do not count: the value of a run is one, however many steps are behind it.
TEST(Compare, TheUnitIsTheRun) {
    Side a = steady_side("A", 2, 0.1), b = steady_side("B", 2, 0.2);
    for (Side* side : {&a, &b})
        for (auto& run : side->runs) run.measurements.front().summary.n = 1000000;
    EXPECT_EQ(row(compared(a, b)).difference.n_a, 2U);
    EXPECT_EQ(row(compared(a, b)).outcome, Outcome::too_few_runs);
}

TEST(Compare, AFivePercentSlowdownIsFoundWithTheRunsRecommended) {
    const auto pilot = compared(noisy_side("A", 5, 0.1, 0.05, 3), noisy_side("B", 5, 0.105, 0.05, 4));
    ASSERT_EQ(row(pilot).outcome, Outcome::too_noisy);
    const std::size_t runs = row(pilot).runs_needed;
    ASSERT_GT(runs, 5U);
    int found = 0;
    constexpr int kTries = 40;
    for (std::uint64_t i = 0; i < kTries; ++i) {
        const auto again =
            compared(noisy_side("A", runs, 0.1, 0.05, 100 + i), noisy_side("B", runs, 0.105, 0.05, 900 + i));
        found += row(again).outcome == Outcome::worse ? 1 : 0;
    }
    EXPECT_GE(found, kTries * 8 / 10);
}

TEST(Compare, EqualSidesRarelyDiffer) {
    int alarms = 0;
    constexpr int kTries = 300;
    for (std::uint64_t i = 0; i < kTries; ++i) {
        const auto both =
            compared(noisy_side("A", 9, 0.1, 0.1, 2 * i), noisy_side("B", 9, 0.1, 0.1, 2 * i + 1));
        const Outcome outcome = row(both).outcome;
        alarms += outcome == Outcome::worse || outcome == Outcome::better ? 1 : 0;
    }
    EXPECT_LE(alarms, kTries * 7 / 100);
}

TEST(Compare, RunsOfBeforeThereWasAnOptionDidWhatItSays) {
    const Side old = steady_side("A", 5, 0.1);
    Side now = steady_side("B", 5, 0.1);
    set(now, "ops", "ranklab");
    EXPECT_TRUE(compared(old, now).groups.front().differing.empty());
    set(now, "ops", "libtorch");
    EXPECT_THAT(refusal(old, now), HasSubstr("ops (A: ranklab; B: libtorch)"));
}

TEST(Compare, NobodyIsInvitedToAllowAnotherWork) {
    Side b = steady_side("B", 5, 0.1);
    set(b, "model", "resnet50");
    set(b, "lr", "0.1");
    EXPECT_THAT(refusal(steady_side("A", 5, 0.1), b),
                AllOf(HasSubstr("; choose runs of one model"), ::testing::Not(HasSubstr("may differ"))));
}

TEST(Compare, DifferingSettingsAreRefusedByName) {
    const Side a = steady_side("A", 5, 0.1);
    Side b = steady_side("B", 5, 0.1);
    set(b, "lr", "0.1");
    set(b, "channels-last", "true");
    set_fact(b, "host", "cpu", "EPYC 7763");
    for (auto& run : b.runs) run.hosts.pop_back();
    EXPECT_THAT(refusal(a, b),
                AllOf(HasSubstr("lr (A: 0.7; B: 0.1)"), HasSubstr("channels-last (A: (none); B: true)"),
                      HasSubstr("host.cpu (A: A64FX; B: EPYC 7763)"), HasSubstr("ranks (A: 2; B: 1)"),
                      HasSubstr("say that these may differ: channels-last,host.cpu,lr,ranks")));
    const CompareOptions allowed{.allow = {"channels-last", "cpu", "lr", "ranks"}};
    const auto comparison = compared(a, b, allowed);
    const auto& differing = comparison.groups.front().differing;
    ASSERT_EQ(differing.size(), 5U);  // and the cpus that the second rank had are noted
    EXPECT_TRUE(std::any_of(differing.begin(), differing.end(), [](const DifferingKey& one) {
        return one.key == "lr" && one.allowed && one.a.front() == "0.7" && one.b.front() == "0.1";
    }));
    EXPECT_THAT(refusal(a, b, {.allow = {"channels-last", "lr", "ranks"}}),
                AllOf(HasSubstr("host.cpu"), Not(HasSubstr("channels-last (")), Not(HasSubstr("lr ("))));
}

TEST(Compare, OtherHostsAreRefusedUnlessAllowed) {
    const Side a = steady_side("A", 5, 0.1);
    Side b = steady_side("B", 5, 0.1);
    for (auto& run : b.runs)
        for (auto& host : run.hosts) host.host = "node02";
    EXPECT_THAT(refusal(a, b), HasSubstr("hosts (A: node01; B: node02)"));
    EXPECT_EQ(row(compared(a, b, {.allow = {"host"}})).outcome, Outcome::same);
}

// A slip is no permission, not even where nothing differs.
TEST(Compare, WhatNoRunHasCannotBeAllowed) {
    const Side a = steady_side("A", 5, 0.1), b = steady_side("B", 5, 0.1);
    EXPECT_THAT(refusal(a, b, {.allow = {"hosts", "host.cpus"}}),
                AllOf(HasSubstr("'host.cpus': these runs have nothing of that name that could differ "
                                "(did you mean host.cpu?); they have "),
                      HasSubstr(" lr,")));
    EXPECT_THAT(refusal(a, b, {.allow = {"command"}}), HasSubstr("'command'"));
    for (const char* word : {"hosts", "host", "host.*", "cpu", "lr", "ranks", "version", "seed", "cpus"})
        EXPECT_EQ(row(compared(a, b, {.allow = {word}})).outcome, Outcome::same) << word;
}

// Of a file that an older ranklab wrote, which stored more of them.
TEST(Compare, WhatMpirunSaysByItselfIsNoSetting) {
    const Side a = steady_side("A", 5, 0.1);
    for (const char* name :
         {"mpi_oversubscribe", "orte_num_nodes", "ess_base_vpid", "pmix", "rmaps_base_oversubscribe"}) {
        Side old = steady_side("B", 5, 0.1);
        set_fact(old, "environment", std::string("OMPI_MCA_") + name, "0");
        EXPECT_THAT(compared(a, old).groups.front().differing, IsEmpty()) << name;
    }
    Side chosen = steady_side("B", 5, 0.1);
    set_fact(chosen, "environment", "OMPI_MCA_btl", "tcp");
    EXPECT_THAT(refusal(a, chosen), HasSubstr("environment.OMPI_MCA_btl (A: (none); B: tcp)"));
}

TEST(Compare, WhatNeverMattersIsNotCompared) {
    const Side a = steady_side("A", 5, 0.1);
    Side b = steady_side("B", 5, 0.1);
    for (const char* key : {"label", "output", "seed", "quiet", "directory"}) set(b, key, "other");
    for (auto& run : b.runs) run.version = run.git_revision = "2";
    set_fact(b, "environment", "SLURM_JOB_ID", "17");
    EXPECT_THAT(compared(a, b).groups.front().differing, IsEmpty());
}

// That there are checkpoints changes the work; where they lie does not.
TEST(Compare, APathMattersByBeingThere) {
    Side a = steady_side("A", 5, 0.1), b = steady_side("B", 5, 0.1);
    set(a, "checkpoint", "one");
    set(b, "checkpoint", "two");
    EXPECT_EQ(row(compared(a, b)).outcome, Outcome::same);
    EXPECT_THAT(refusal(a, steady_side("B", 5, 0.1)), HasSubstr("checkpoint (A: set; B: (none))"));
}

TEST(Compare, AnotherKernelIsNotedAndNotRefused) {
    const Side a = steady_side("A", 5, 0.1);
    Side b = steady_side("B", 5, 0.1);
    set_fact(b, "host", "kernel", "6.5");
    const auto comparison = compared(a, b);
    ASSERT_EQ(comparison.groups.front().differing.size(), 1U);
    EXPECT_EQ(comparison.groups.front().differing.front().key, "host.kernel");
    EXPECT_FALSE(comparison.groups.front().differing.front().allowed);
}

// A baseline that an older ranklab stored stays one; of two that are told, one is not the other.
TEST(Compare, WhatAnOlderProgramDidNotStoreIsSaidAndNotRefused) {
    Side a = steady_side("A", 5, 0.1), b = steady_side("B", 5, 0.1);
    for (Side* side : {&a, &b}) set_fact(*side, "libraries", "libtorch", "2.8.0");
    set_fact(b, "libraries", "libtorch_cpu_capability", "AVX2");
    const auto comparison = compared(a, b);
    EXPECT_EQ(row(comparison).outcome, Outcome::same);
    ASSERT_EQ(comparison.groups.front().differing.size(), 1U);
    const auto& one = comparison.groups.front().differing.front();
    EXPECT_EQ(one.key, "libraries.libtorch_cpu_capability");
    EXPECT_FALSE(one.allowed);
    EXPECT_EQ(one.a.front(), "(none)");
    set_fact(a, "libraries", "libtorch_cpu_capability", "AVX512");
    EXPECT_THAT(refusal(a, b), HasSubstr("libraries.libtorch_cpu_capability (A: AVX512; B: AVX2)"));
    a = steady_side("A", 5, 0.1);
    set_fact(a, "libraries", "libtorch", "2.8.0");
    for (std::size_t i = 0; i < 2; ++i)
        for (auto& fact : b.runs[i].context)
            if (fact.key == "libtorch_cpu_capability") fact.value = "AVX512";
    EXPECT_THAT(refusal(a, b), HasSubstr("libtorch_cpu_capability")) << "which of the two it was is open";
}

// Whatever it computed on, an older ranklab stored "cpu".
TEST(Compare, AnOlderRunOfAGpuIsHeldAgainstNoDevice) {
    Side a = steady_side("A", 5, 0.1), b = steady_side("B", 5, 0.1);
    for (auto& run : b.runs)
        for (auto& host : run.hosts) host.device = "NVIDIA H100 [GPU-1]";
    EXPECT_THAT(refusal(a, b), HasSubstr("devices (A: cpu; B: NVIDIA H100)"));
    for (Side* side : {&a, &b}) set(*side, "device", "cuda");
    const auto comparison = compared(a, b);
    EXPECT_EQ(row(comparison).outcome, Outcome::same);
    ASSERT_EQ(comparison.groups.front().differing.size(), 1U);
    EXPECT_EQ(comparison.groups.front().differing.front().key, "devices");
}

TEST(Compare, WhatTheTablesOfIoSayOfFilesCounts) {
    Side a = steady_side("A", 5, 0.1), b = steady_side("B", 5, 0.1);
    const auto reads = [](Side& side, const char* cache, const char* file_system) {
        for (auto& run : side.runs)
            run.tables.push_back({"io_reads",
                                  {{"cache", std::vector<std::string>{cache}},
                                   {"file_system", std::vector<std::string>{file_system}}}});
    };
    Side cold = a;
    reads(cold, "cold", "lustre");
    reads(a, "unknown", "lustre");
    reads(b, "warm", "lustre");
    const auto differing = compared(a, b).groups.front().differing;
    ASSERT_EQ(differing.size(), 1U);
    EXPECT_EQ(differing.front().key, "cache");
    EXPECT_THAT(refusal(cold, b), HasSubstr("cache (A: cold;"))
        << "what memory served is another measurement";
    Side other = steady_side("B", 5, 0.1);
    reads(other, "cold", "tmpfs");
    EXPECT_THAT(refusal(a, other), HasSubstr("file_system (A: lustre; B: tmpfs)"));
}

TEST(Compare, ConfigurationsAreMatchedEachWithItsOwn) {
    Side a = steady_side("A", 5, 0.1), b = steady_side("B", 5, 0.1);
    Side large_a = steady_side("A", 5, 0.4), large_b = steady_side("B", 5, 0.6);
    for (Side* side : {&large_a, &large_b}) set(*side, "model", "resnet18");
    a.runs.insert(a.runs.end(), large_a.runs.begin(), large_a.runs.end());
    b.runs.insert(b.runs.begin(), large_b.runs.begin(), large_b.runs.end());
    const auto comparison = compared(a, b);
    ASSERT_EQ(comparison.groups.size(), 2U);
    EXPECT_THAT(comparison.groups[0].title, HasSubstr("model mnist-cnn"));
    EXPECT_EQ(comparison.groups[0].rows.front().outcome, Outcome::same);
    EXPECT_THAT(comparison.groups[1].title, HasSubstr("model resnet18"));
    EXPECT_EQ(comparison.groups[1].rows.front().outcome, Outcome::worse);
}

TEST(Compare, AConfigurationOfOneSideAloneIsSaidAndNoVerdict) {
    Side a = steady_side("A", 5, 0.1);
    Side large = steady_side("A", 5, 0.4);
    set(large, "model", "resnet18");
    a.runs.insert(a.runs.end(), large.runs.begin(), large.runs.end());
    const auto comparison = compared(a, steady_side("B", 5, 0.1));
    EXPECT_THAT(comparison.only_a, Contains(HasSubstr("resnet18")));
    EXPECT_EQ(comparison.overall(), "inconclusive");
    EXPECT_EQ(exit_code_of(comparison, {true, false}), 0);
    EXPECT_EQ(exit_code_of(comparison, {true, true}), 7);
}

TEST(Compare, NothingInCommonIsRefused) {
    Side b = steady_side("B", 5, 0.1);
    for (auto& run : b.runs) run.command = "io";
    EXPECT_THAT(refusal(steady_side("A", 5, 0.1), b), HasSubstr("A holds runs of train and B of io"));
}

TEST(Compare, RunsThatDoNotStandAreLeftOutAndCounted) {
    const Side a = steady_side("A", 5, 0.1);
    Side b = steady_side("B", 11, 0.1);
    b.runs[0].valid = false;
    b.runs[1].exit_code = 7;
    b.runs[2].exit_code = 6;
    b.runs[3].tables.front().columns.back().values = std::vector<std::string>{"passed", "failed"};
    b.runs[4].tables.front().columns.back().values = std::vector<std::string>{"not verified", "not verified"};
    b.runs[5].exit_code = 4;  // below a threshold: a result like any other
    const auto comparison = compared(a, b);
    EXPECT_EQ(row(comparison).difference.n_b, 6U);
    std::vector<std::string> reasons;
    for (const auto& one : comparison.b.left_out) reasons.push_back(one.reason);
    EXPECT_THAT(reasons, ::testing::UnorderedElementsAre("invalid", "not converged or cache-tainted",
                                                         "ended by the time limit", "verification failed",
                                                         "not verified"));
    EXPECT_EQ(row(compared(a, b, {.with_unverified = true})).difference.n_b, 7U);
}

TEST(Compare, ASideWithoutUsableRunsIsAnInvalidMeasurement) {
    Side b = steady_side("B", 5, 0.1);
    for (auto& run : b.runs) run.valid = false;
    try {
        compare(steady_side("A", 5, 0.1), b, {});
        FAIL() << "nothing was thrown";
    } catch (const base::Error& error) {
        EXPECT_EQ(error.code(), base::ExitCode::invalid_measurement);
        EXPECT_THAT(error.what(), HasSubstr("B (B) has no run that could be compared: 5 invalid"));
    }
}

TEST(Compare, SaysWhenTheSidesDidNotTakeTurns) {
    const Side a = steady_side("A", 5, 0.1);
    Side b = steady_side("B", 5, 0.1);
    EXPECT_THAT(compared(a, b).groups.front().notes, IsEmpty());
    for (auto& run : b.runs) run.started_utc.replace(0, 4, "2027");
    EXPECT_THAT(compared(a, b).groups.front().notes,
                Contains(HasSubstr("all runs of A were before all of B")));
    EXPECT_THAT(compared(b, a).groups.front().notes,
                Contains(HasSubstr("all runs of B were before all of A")));
    EXPECT_THAT(compared(a, a).groups.front().notes, Contains(HasSubstr("A and B are the same runs")));
    Side more = a;
    more.runs.push_back(steady_side("B", 1, 0.1).runs.front());
    EXPECT_THAT(compared(a, more).groups.front().notes,
                Contains(HasSubstr("5 of the runs are on both sides")));
}

TEST(Compare, SaysHowManyRunsHadHostsThatWereNotQuiet) {
    Side a = steady_side("A", 5, 0.1), b = steady_side("B", 6, 0.1);
    set_fact(a, "place", "quiet", "yes");
    EXPECT_THAT(compared(a, b).groups.front().notes, IsEmpty());
    a.runs.back().context.back().value = "no";
    set_fact(b, "place", "quiet", "no");
    EXPECT_THAT(compared(a, b).groups.front().notes,
                Contains(HasSubstr("1 of 5 runs of A, 6 of 6 runs of B")));
}

TEST(Compare, UnitsThatDifferAreRefused) {
    const Side a = steady_side("A", 5, 0.1);
    Side b = steady_side("B", 5, 0.1);
    for (auto& run : b.runs) run.measurements.front().unit = "ms";
    EXPECT_THAT(tests::thrown_sentence<base::DataError>([&] { compare(a, b, {}); }),
                AllOf(HasSubstr("step_time_s"), HasSubstr("'ms'")));
}

TEST(Compare, TheGateFailsWhereARowIsWorse) {
    const Side a = steady_side("A", 5, 0.1);
    const auto worse = compared(a, steady_side("B", 5, 0.12));
    EXPECT_EQ(exit_code_of(worse, {}), 0);
    EXPECT_EQ(exit_code_of(worse, {true, false}), 4);
    EXPECT_EQ(exit_code_of(worse, {true, true}), 4);
    const auto few = compared(a, steady_side("B", 4, 0.12));
    EXPECT_EQ(exit_code_of(few, {true, false}), 0);
    EXPECT_EQ(exit_code_of(few, {true, true}), 7);
    EXPECT_EQ(exit_code_of(compared(a, steady_side("B", 5, 0.08)), {true, true}), 0);
}

}  // namespace
}  // namespace ranklab::report::compare
