// Which measurements are compared, and the verdicts. Golden files hold refusals, notes and the
// printed forms.
#include "report/compare/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "thrown_sentence.hpp"
#include "unit/report/compare_sample.hpp"
#include "unit/report/outputs.hpp"

namespace ranklab::report::compare {
namespace {

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

const CompareRow& row(const Comparison& comparison) {
    return comparison.groups.at(0).rows.at(0);
}

void add(Side& side, const std::string& name, const std::string& unit, results::Kind kind,
         double factor) {
    for (auto& run : side.runs)
        run.measurements.push_back(median_of(name, unit, kind, factor * run.median("step_time_s")));
}

void made_by(Side& side, const std::vector<std::string>& processes) {
    for (std::size_t i = 0; i < side.runs.size(); ++i)
        side.runs[i].context.push_back({"process", "instance", processes[i % processes.size()]});
}

/// One line per measurement, then the overall verdict and the exit codes of both gates.
std::string verdicts_of(const Comparison& comparison) {
    std::string text;
    for (const auto& group : comparison.groups) {
        text += group.title + '\n';
        for (const auto& one : group.rows)
            text += fmt::format(
                "  {}: {} of {} and {} runs, {:.5g} -> {:.5g}, p {:.3g}, needs {}\n",
                one.measurement, name_of(one.outcome), one.difference.n_a, one.difference.n_b,
                one.median_a, one.median_b, one.corrected_p, one.runs_needed);
        for (const auto& note : group.notes) text += "  " + note + '\n';
    }
    for (const auto& one : comparison.only_a) text += "only A: " + one + '\n';
    const auto overall = comparison.overall();
    return text + fmt::format("{}; gates end with {} and {}\n",
                              overall ? name_of(*overall) : "inconclusive",
                              exit_code_of(comparison, {true, false}),
                              exit_code_of(comparison, {true, true}));
}

TEST(Compare, TellsWorseBetterAndSame) {
    const Side a = steady_side("A", 9, 0.1);
    const auto worse = row(compared(a, steady_side("B", 9, 0.12)));
    EXPECT_EQ(worse.outcome, Outcome::worse);
    EXPECT_NEAR(worse.difference.ratio.ratio, 1.2, 1e-3);
    EXPECT_NEAR(worse.median_a, 0.1, 1e-4);
    EXPECT_LT(worse.corrected_p, 0.001);
    EXPECT_DOUBLE_EQ(worse.difference.test.effect, 1);
    EXPECT_EQ(row(compared(a, steady_side("B", 9, 0.08))).outcome, Outcome::better);
    EXPECT_EQ(row(compared(a, steady_side("B", 9, 0.102))).outcome, Outcome::same);
    EXPECT_EQ(row(compared(a, steady_side("B", 9, 0.102), {.min_effect = 0.01})).outcome,
              Outcome::worse);
    EXPECT_EQ(exit_code_of(compared(a, steady_side("B", 9, 0.12)), {}), 0) << "no gate";
}

// Verdicts on rates, counts, losses (their last epoch counts) and runs of several processes.
TEST(Compare, VerdictsAreAsStored) {
    Outputs all;
    const Side a = steady_side("A", 9, 0.1), b = steady_side("B", 9, 0.12);
    const auto of = [&](const std::string& name, const Side& one, const Side& other,
                        const CompareOptions& options = {}) {
        all.add(name, verdicts_of(compare(one, other, options)));
    };
    Side many_a = a, many_b = b;
    for (Side* side : {&many_a, &many_b}) {
        add(*side, "throughput_samples_per_s", "samples/s", results::Kind::rate, 100);
        add(*side, "threads", "1", results::Kind::count, 10);
        add(*side, "validation_accuracy", "1", results::Kind::ratio, 1);
        add(*side, "train_loss", "1", results::Kind::ratio, 1);
        add(*side, "wrong_elements", "1", results::Kind::count, 0);
    }
    of("all measurements", many_a, many_b, {.measurements = {"all"}});
    of("the headline alone", many_a, many_b);
    of("a count", many_a, many_b, {.measurements = {"threads"}});
    for (Side* side : {&many_a, &many_b})
        for (auto& run : side->runs)
            run.tables.push_back(
                {"epochs", {{"validation_accuracy", std::vector<double>{0.5, 0.875}}}});
    of("the last epoch's accuracy", many_a, many_b, {.measurements = {"validation_accuracy"}});
    // `train --repetitions 9`: nine runs of one process are one sample.
    Side once_a = a, once_b = b, five = a;
    made_by(once_a, {"n1 17 1"});
    made_by(once_b, {"n1 18 2"});
    of("one process a side", once_a, once_b);
    made_by(five, {"n1 1 1", "n1 2 2", "n1 3 3", "n1 4 4", "n1 5 5"});
    made_by(many_b, {"1", "2", "3", "4", "5", "6", "7", "8", "9"});
    of("5 processes and 9", five, many_b);
    of("4 runs", steady_side("A", 4, 0.1), b);
    of("5 runs", steady_side("A", 5, 0.1), steady_side("B", 5, 0.12));
    // Each configuration is compared with its counterpart.
    Side both_a = steady_side("A", 5, 0.1), both_b = steady_side("B", 5, 0.1),
         large_a = steady_side("A", 5, 0.4), large_b = steady_side("B", 5, 0.6);
    for (Side* side : {&large_a, &large_b}) set(*side, "model", "resnet18");
    both_a.runs.insert(both_a.runs.end(), large_a.runs.begin(), large_a.runs.end());
    of("a configuration of A alone", both_a, both_b);
    both_b.runs.insert(both_b.runs.begin(), large_b.runs.begin(), large_b.runs.end());
    of("two configurations", both_a, both_b);
    all.expect("compare_verdicts.txt");
    EXPECT_THAT(refusal(a, b, {.measurements = {"step_tim_s"}}), HasSubstr("step_time_s"));
}

// The correction depends on the number of rows.
TEST(Compare, PValuesAreCorrectedOverAllRows) {
    Side a = noisy_side("A", 8, 0.1, 0.02, 1), b = noisy_side("B", 8, 0.11, 0.02, 2);
    const double alone = row(compared(a, b)).corrected_p;
    for (int i = 0; i < 4; ++i)
        for (Side* side : {&a, &b})
            add(*side, fmt::format("other{}_time_s", i), "s", results::Kind::cost, 1);
    const auto all = compared(a, b, {.measurements = {"all"}}).groups.at(0).rows;
    const auto first = std::ranges::find(all, "step_time_s", &CompareRow::measurement);
    ASSERT_NE(first, all.end());
    EXPECT_NEAR(first->corrected_p, 5 * alone, 1e-12);
    EXPECT_DOUBLE_EQ(first->difference.test.p, alone);
}

TEST(Compare, AFivePercentSlowdownIsFoundWithTheRunsRecommended) {
    const auto pilot =
        compared(noisy_side("A", 5, 0.1, 0.05, 3), noisy_side("B", 5, 0.103, 0.05, 4));
    ASSERT_EQ(row(pilot).outcome, Outcome::too_noisy);
    const std::size_t runs = row(pilot).runs_needed;
    ASSERT_GT(runs, 5U);
    int found = 0;
    constexpr int kTries = 20;
    for (std::uint64_t i = 0; i < kTries; ++i) {
        const auto again = compared(noisy_side("A", runs, 0.1, 0.05, 100 + i),
                                    noisy_side("B", runs, 0.105, 0.05, 900 + i));
        found += row(again).outcome == Outcome::worse ? 1 : 0;
    }
    EXPECT_GE(found, kTries * 7 / 10);
}

TEST(Compare, EqualSidesRarelyDiffer) {
    int alarms = 0;
    constexpr int kTries = 100;
    for (std::uint64_t i = 0; i < kTries; ++i) {
        const auto both =
            compared(noisy_side("A", 9, 0.1, 0.1, 2 * i), noisy_side("B", 9, 0.1, 0.1, 2 * i + 1));
        const Outcome outcome = row(both).outcome;
        alarms += outcome == Outcome::worse || outcome == Outcome::better ? 1 : 0;
    }
    EXPECT_LE(alarms, kTries * 9 / 100);
}

// The two sides differ in the given setting or fact alone.
Side with(const std::string& key, const std::string& value) {
    Side side = steady_side("B", 5, 0.1);
    set(side, key, value);
    return side;
}

Side with_fact(const std::string& section, const std::string& key, const std::string& value) {
    Side side = steady_side("B", 5, 0.1);
    set_fact(side, section, key, value);
    return side;
}

template <class Change>
Side changed(Change change) {
    Side side = steady_side("B", 5, 0.1);
    for (auto& run : side.runs) change(run);
    return side;
}

void reads(Side& side, const char* cache, const char* file_system) {
    for (auto& run : side.runs)
        run.tables.push_back({"io_reads",
                              {{"cache", std::vector<std::string>{cache}},
                               {"file_system", std::vector<std::string>{file_system}}}});
}

Side different_in_four() {
    Side b = with("lr", "0.1");
    set(b, "channels-last", "true");
    set_fact(b, "host", "cpu", "EPYC 7763");
    for (auto& run : b.runs) run.hosts.pop_back();
    return b;
}

TEST(Compare, WhatDiffersIsRefusedByNameWithBothValues) {
    const Side a = steady_side("A", 5, 0.1);
    Side cold = a, tmpfs = steady_side("B", 5, 0.1), warm = tmpfs,
         avx2 = with_fact("libraries", "libtorch", "2.8.0"), avx512 = avx2;
    reads(cold, "cold", "lustre");
    reads(tmpfs, "cold", "tmpfs");
    reads(warm, "warm", "lustre");
    set_fact(avx2, "libraries", "libtorch_cpu_capability", "AVX2");
    set_fact(avx512, "libraries", "libtorch_cpu_capability", "AVX512");
    Outputs refusals;
    refusals.add("settings, facts and ranks", refusal(a, different_in_four()));
    refusals.add("but for those allowed",
                 refusal(a, different_in_four(), {.ignore = {"channels-last", "lr", "ranks"}}));
    refusals.add("another work", refusal(a, with("model", "resnet50")));
    refusals.add("an option that is younger", refusal(a, with("ops", "libtorch")));
    refusals.add("hosts", refusal(a, changed([](auto& run) {
                                      for (auto& host : run.hosts) host.host = "node02";
                                  })));
    refusals.add("devices", refusal(a, changed([](auto& run) {
                                        for (auto& host : run.hosts)
                                            host.device = "NVIDIA H100 [GPU-1]";
                                    })));
    refusals.add("checkpoints", refusal(with("checkpoint", "one"), a));
    refusals.add("what the user told MPI",
                 refusal(a, with_fact("environment", "OMPI_MCA_btl", "tcp")));
    refusals.add("instruction sets", refusal(avx512, avx2));
    refusals.add("caches", refusal(cold, warm));
    refusals.add("file systems", refusal(cold, tmpfs));
    refusals.add("commands", refusal(a, changed([](auto& run) { run.command = "io"; })));
    refusals.add("allowed, but no run has it", refusal(a, a, {.ignore = {"hosts", "host.cpus"}}));
    refusals.add("nothing usable", tests::thrown_sentence<base::Error>([&] {
                     compare(a, changed([](auto& run) { run.valid = false; }), {});
                 }));
    refusals.add("units", tests::thrown_sentence<base::DataError>([&] {
                     compare(a, changed([](auto& run) { run.measurements.front().unit = "ms"; }),
                             {});
                 }));
    refusals.expect("compare_refusals.txt");
}

// Larger steps take longer: of other batches, per rank and in all, the rates are compared.
TEST(Compare, OtherBatchesAreComparedByTheirRates) {
    Side a = steady_side("A", 5, 0.1), b = steady_side("B", 5, 0.15);
    for (Side* side : {&a, &b}) {
        add(*side, "throughput_samples_per_s", "samples/s", results::Kind::rate,
            side == &a ? 3200 : 2850);
        for (const char* key : {"batch-size", "global-batch-size"})
            set(*side, key, side == &a ? "32" : "64");
    }
    const auto rows =
        compared(a, b, {.ignore = {"batch-size", "global-batch-size"}}).groups.at(0).rows;
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.front().measurement, "throughput_samples_per_s");
    EXPECT_EQ(rows.front().outcome, Outcome::better);
}

// Labels that differ in one option: the table's ratio in words, and what the slower mode pays.
TEST(Compare, AnOptionThatDiffersHasItsVerdict) {
    Side dp = steady_side("A", 5, 0.2), ddp = steady_side("B", 5, 0.1);
    set(dp, "mode", "dp");
    set(ddp, "mode", "ddp");
    add(dp, "replicate_time_s", "s", results::Kind::cost, 0.25);
    for (auto& run : dp.runs) run.hosts.front().threads = 2, run.hosts.resize(1);
    for (auto& run : ddp.runs)
        for (auto& rank : run.hosts) rank.threads = 1;
    const auto comparison = compared(dp, ddp, {.one_may_differ = true});
    const auto& found = comparison.groups.at(0).findings;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(row(comparison).difference.ratio.ratio, 0.5, 1e-9);
    EXPECT_THAT(found[0], HasSubstr("mode ddp is 2.00 times as fast as mode dp"));
    EXPECT_THAT(found[0], HasSubstr("mode dp pays 50.0 ms for replicate of a step of 200 ms"));
    EXPECT_THAT(comparison_text(comparison, {}), HasSubstr("mode ddp is 2.00 times as fast"));
    EXPECT_THAT(comparison_json(comparison, {}), HasSubstr("mode ddp is 2.00 times as fast"));
    const auto precise = [](const char* name, const char* precision, double step_s) {
        Side side = steady_side(name, 5, step_s);
        set(side, "precision", precision);
        return side;
    };
    const auto faster =
        compared(precise("A", "fp32", 0.1), precise("B", "bf16", 0.05), {.one_may_differ = true});
    EXPECT_THAT(faster.groups.at(0).findings.at(0),
                HasSubstr("precision bf16, 50.0 ms, 2.00 times as fast as precision fp32"));
}

TEST(Compare, WhatMayDifferIsAllowedByName) {
    const Side a = steady_side("A", 5, 0.1), b = steady_side("B", 5, 0.1);
    const auto comparison =
        compared(a, different_in_four(), {.ignore = {"channels-last", "cpu", "lr", "ranks"}});
    const auto& differing = comparison.groups.front().differing;
    ASSERT_EQ(differing.size(), 5U);  // and the cpus that the second rank had are noted
    EXPECT_TRUE(std::ranges::any_of(differing, [](const DifferingKey& one) {
        return one.key == "lr" && one.allowed && one.a.contains("0.7") && one.b.contains("0.1");
    }));
    for (const char* word :
         {"hosts", "host", "host.*", "cpu", "lr", "ranks", "version", "seed", "cpus"})
        EXPECT_EQ(row(compared(a, b, {.ignore = {word}})).outcome, Outcome::same) << word;
    EXPECT_THROW(compared(a, b, {.ignore = {"command"}}), base::OptionError);
}

// The differing keys that --ignore did not name.
std::vector<std::string> noted(const Side& a, const Side& b) {
    std::vector<std::string> keys;
    const auto comparison = compared(a, b);
    EXPECT_EQ(row(comparison).outcome, Outcome::same);
    for (const auto& one : comparison.groups.front().differing) {
        EXPECT_FALSE(one.allowed);
        keys.push_back(one.key);
    }
    return keys;
}

TEST(Compare, WhatDoesNotMatterIsNotRefused) {
    const Side a = steady_side("A", 5, 0.1);
    Side b = steady_side("B", 5, 0.1);
    for (const char* key : {"label", "output", "seed", "quiet", "directory"}) set(b, key, "other");
    for (auto& run : b.runs) run.version = run.git_revision = "2";
    set_fact(b, "environment", "SLURM_JOB_ID", "17");
    for (const char* name :  // what mpirun says by itself, of which an older ranklab stored more
         {"mpi_oversubscribe", "orte_num_nodes", "ess_base_vpid", "pmix",
          "rmaps_base_oversubscribe"})
        set_fact(b, "environment", std::string("OMPI_MCA_") + name, "0");
    EXPECT_THAT(noted(a, b), IsEmpty());
    EXPECT_THAT(noted(a, with("ops", "ranklab")), IsEmpty())
        << "what runs did before there was the option";
    EXPECT_THAT(noted(with("checkpoint", "one"), with("checkpoint", "two")), IsEmpty())
        << "where they lie";
    EXPECT_THAT(noted(a, with_fact("host", "kernel", "6.5")), testing::ElementsAre("host.kernel"));
}

TEST(Compare, RunsThatDoNotStandAreLeftOutAndCounted) {
    const Side a = steady_side("A", 5, 0.1);
    Side b = steady_side("B", 11, 0.1);
    b.runs[0].valid = false;
    b.runs[1].exit_code = 7;
    b.runs[2].exit_code = 6;
    b.runs[3].tables.front().columns.back().values = std::vector<std::string>{"passed", "failed"};
    b.runs[4].tables.front().columns.back().values =
        std::vector<std::string>{"not verified", "not verified"};
    b.runs[5].exit_code = 4;  // below a threshold: a result like any other
    const auto comparison = compared(a, b);
    EXPECT_EQ(row(comparison).difference.n_b, 6U);
    std::vector<std::string> reasons;
    for (const auto& one : comparison.b.left_out) reasons.push_back(one.reason);
    EXPECT_THAT(reasons, ::testing::UnorderedElementsAre(
                             "invalid", "not converged or cache-tainted", "ended by the time limit",
                             "verification failed", "not verified"));
    EXPECT_EQ(row(compared(a, b, {.with_unverified = true})).difference.n_b, 7U);
}

TEST(Compare, NotesTheOrderOfMeasuringSharedRunsAndBusyHosts) {
    const Side a = steady_side("A", 5, 0.1);
    Side b = steady_side("B", 5, 0.1), more = a, later = b, busy = b, quiet = a;
    for (auto& run : later.runs) run.started_utc.replace(0, 4, "2027");
    more.runs.push_back(b.runs.front());
    set_fact(quiet, "place", "quiet", "yes");
    set_fact(busy, "place", "quiet", "no");
    const auto notes = [](const Side& one, const Side& other) {
        return lines_of(compared(one, other).groups.front().notes);
    };
    EXPECT_THAT(notes(quiet, b), HasSubstr("not measured"));
    Side still = b;
    set_fact(still, "place", "quiet", "yes");
    EXPECT_EQ(notes(quiet, still), "");
    quiet.runs.back().context.back().value = "no";
    Outputs all;
    all.add("A before B", notes(a, later));
    all.add("B before A", notes(later, a));
    all.add("the same runs", notes(a, a));
    all.add("5 of them on both sides", notes(a, more));
    all.add("hosts that were not quiet", notes(quiet, busy));
    all.expect("compare_notes.txt");
}

// Other processes use this share of the run's 8 CPUs.
Side beside(Side side, double share) {
    set_fact(side, "place", "others_cores", fmt::format("{}", 8 * share));
    set_fact(side, "place", "others_cores_host", "node01");
    return side;
}

TEST(Compare, NoVerdictRestsOnSidesBesideDifferentLoad) {
    Side a = steady_side("A", 9, 0.1), b = steady_side("B", 9, 0.12);
    for (Side* side : {&a, &b}) add(*side, "train_loss", "1", results::Kind::ratio, 1);
    const auto of = [](const Side& one, const Side& other) {
        return compared(one, other, {.measurements = {"step_time_s", "train_loss"}});
    };
    const auto loaded = of(beside(a, 0.01), beside(b, 0.4));
    EXPECT_EQ(row(loaded).outcome, Outcome::other_load);
    EXPECT_EQ(loaded.groups[0].rows[1].outcome, Outcome::worse) << "load leaves a loss as it is";
    EXPECT_EQ(row(of(a, beside(b, 0))).outcome, Outcome::other_load) << "not measured is not quiet";
    EXPECT_EQ(row(of(a, b)).outcome, Outcome::worse);
    EXPECT_EQ(row(of(beside(a, 0.4), beside(b, 0.42))).outcome, Outcome::worse);
    const auto same =
        compared(beside(steady_side("A", 9, 0.1), 0), beside(steady_side("B", 9, 0.1), 0.4));
    EXPECT_EQ(row(same).outcome, Outcome::other_load);
    EXPECT_EQ(exit_code_of(same, {true, false}), 0);
    EXPECT_EQ(exit_code_of(same, {true, true}), 7);
    EXPECT_THAT(gate_line(same, {true, false}), HasSubstr("--strict"));
}

// A comparison of six runs a side with made-up rows, one for each outcome.
Comparison with_outcomes(const std::vector<Outcome>& outcomes) {
    Comparison comparison = compared(steady_side("A", 6, 0.1), steady_side("B", 6, 0.1));
    auto& rows = comparison.groups.front().rows;
    rows.resize(outcomes.size(), rows.front());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].outcome = outcomes[i];
    return comparison;
}

TEST(CompareOutput, IsAsStored) {
    Outputs all;
    const auto add = [&](const std::string& name, const Comparison& comparison, const Gate& gate) {
        all.add(name + ", text", comparison_text(comparison, gate));
        all.add(name + ", Markdown", comparison_markdown(comparison, gate));
        all.add(name + ", JSON", comparison_json(comparison, gate));
    };
    const Side a = steady_side("A", 6, 0.1), noisy = noisy_side("A", 6, 0.1, 0.05, 3);
    add("20 % worse", compared(a, steady_side("B", 6, 0.12)), {true, false});
    add("4 runs", compared(a, steady_side("B", 4, 0.12)), {true, false});
    add("1 run, no gate", compared(steady_side("A", 1, 0.1), steady_side("B", 1, 0.1)), {});
    add("too noisy", compared(noisy, noisy_side("B", 6, 0.105, 0.05, 4)), {true, true});
    add("the same runs", compared(noisy, noisy), {true, true});
    Comparison alone = with_outcomes({Outcome::same});
    alone.only_b = {"io", "train"};
    for (const auto& one : {with_outcomes({Outcome::too_noisy, Outcome::worse, Outcome::too_noisy}),
                            with_outcomes({3, Outcome::too_few_runs}),
                            with_outcomes({Outcome::same, Outcome::better}), alone})
        all.add("verdict", gate_line(one, {true, true}));
    all.expect("compare.txt");
}

TEST(CompareOutput, HostileTextDoesNotBreakOut) {
    Side a = steady_side("A", 5, 0.1), b = steady_side("B", 5, 0.1);
    for (Side* side : {&a, &b}) {
        set(*side, "model", "x\x1b[31m\n| <script> `y` @all");
        for (auto& run : side->runs) {
            run.label = "l\nVerdict: same";
            run.measurements.front().name = "t|`\n<b>";
        }
    }
    const auto comparison = compare(a, b, {.measurements = {"all"}});
    EXPECT_THAT(comparison_text(comparison, {}), Not(HasSubstr("\x1b")));
    EXPECT_THAT(comparison_text(comparison, {}), Not(HasSubstr("\nVerdict: same\n")));
    for (const char* harmless : {"\\<script\\>", "\\@all", "t\\|\\` \\<b\\>"})
        EXPECT_THAT(comparison_markdown(comparison, {}), HasSubstr(harmless));
    EXPECT_THAT(comparison_json(comparison, {}), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace ranklab::report::compare
