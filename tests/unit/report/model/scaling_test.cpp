#include "report/model/scaling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "report/compare/compare.hpp"
#include "report/model/conditions.hpp"
#include "report/model/values.hpp"
#include "thrown_sentence.hpp"
#include "unit/report/io_runs_sample.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/runs_in_file.hpp"
#include "unit/stats/simulated.hpp"

namespace ranklab::report::model {
namespace {

using results::StoredRun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Keys = std::vector<std::string>;
using Runs = std::vector<StoredRun>;

StoredRun with(StoredRun run, const std::string& key, const std::string& value) {
    std::erase_if(run.config, [&](const auto& one) { return one.key == key; });
    run.config.push_back({key, value, false});
    return run;
}

StoredRun on_cpus(StoredRun run, const std::vector<std::string>& cpus) {
    for (std::size_t i = 0; i < run.hosts.size(); ++i) run.hosts[i].cpus = cpus[i % cpus.size()];
    return run;
}

// A single-device run with `threads` threads; ranks() makes runs with one thread per rank, each on
// its own CPU.
StoredRun alone(const std::string& id, double step_s, int threads) {
    return on_cpus(with(with(step_run(id, 1, step_s, "none"), "mode", "single"), "threads",
                        std::to_string(threads)),
                   {"0-7"});
}

StoredRun ranks(const std::string& id, int count, double step_s) {
    return on_cpus(step_run(id, count, step_s), {"0", "1", "2", "3"});
}

StoredRun strong(StoredRun run) {
    const auto of_rank = 32 / run.hosts.size();
    return with(with(std::move(run), "global-batch-size", "32"), "batch-size",
                std::to_string(of_rank));
}

Groups groups_by(const Keys& keys, const Runs& runs, const Keys& allow = {}) {
    const GroupQuery query{keys, {}, allow};
    Frame table;
    for (const auto& run : runs) add_run(table, query, run);
    return {std::move(table), query};
}

struct Scaled {
    Groups groups;
    Scaling scaling;
};
Scaled scaling_by(const Keys& keys, const Runs& runs) {
    Groups groups = groups_by(keys, runs);
    Scaling scaling = scaling_of(groups);
    return {std::move(groups), std::move(scaling)};
}

StoredRun with_threads(StoredRun run, const std::vector<int>& threads) {
    for (std::size_t i = 0; i < run.hosts.size(); ++i) run.hosts[i].threads = threads[i];
    return run;
}

StoredRun on_cores(StoredRun run, const std::string& cores) {
    for (auto& row : run.hosts) row.cores = cores;
    return run;
}

StoredRun on_gpus(StoredRun run, const std::vector<std::string>& gpus) {
    for (std::size_t i = 0; i < run.hosts.size(); ++i)
        run.hosts[i].device = "NVIDIA H100" + gpus[i];
    return with(run, "device", "cuda");
}

StoredRun in_quota(StoredRun run, const std::string& quota) {
    run.context.push_back({"host", "cpu_quota", quota});
    return run;
}

// Counts compute threads, for each set of ranks that share CPUs at most these CPUs.
TEST(Cores, AreThoseThatTheRanksCouldUse) {
    StoredRun two_hosts = on_cpus(step_run("a", 2, 1), {"0"}),
              dp = with(alone("a", 1, 1), "replicas", "4");
    two_hosts.hosts[1].host = "node02";
    const auto wide = [](const char* threads) {
        return with(on_cpus(step_run("a", 1, 1), {"0-7"}), "threads", threads);
    };
    for (const auto& [run, count, unit, oversubscription] :
         std::vector<std::tuple<StoredRun, std::size_t, std::string, std::string>>{
             {alone("a", 1, 2), 2, "CPU", ""},
             {ranks("a", 2, 1), 2, "CPU", ""},
             {on_cpus(step_run("a", 3, 1), {"0-1"}), 2, "CPU", "3 compute threads on 2 CPUs"},
             {with(ranks("a", 2, 1), "threads", "4"), 2, "CPU",
              "4 compute threads on 1 CPU of a rank"},
             {two_hosts, 2, "CPU", ""},  // CPU 0 of each host
             {with(on_cpus(step_run("a", 2, 1), {"0", "1-7"}), "threads", "4"), 5, "CPU",
              "4 compute threads on 1 CPU of a rank"},
             {with(on_cpus(step_run("a", 3, 1), {"0-1", "0-1", "2-5"}), "threads", "2"), 4, "CPU",
              "4 compute threads on 2 CPUs"},
             {with(on_cpus(step_run("a", 3, 1), {"0-1", "3-4", "1-3"}), "threads", "2"), 5, "CPU",
              "6 compute threads on 5 CPUs"},
             {on_cores(wide("8"), "0-3"), 4, "core", "8 compute threads on 4 cores of a rank"},
             {on_cores(on_cpus(step_run("b", 2, 1), {"0", "8"}), "0"), 1, "core",
              "2 compute threads on 1 core"},
             {with_threads(on_cpus(step_run("a", 2, 1), {"0-3", "4-7"}), {1, 2}), 3, "CPU", ""},
             {in_quota(wide("8"), "2.5"), 3, "CPU", "threads on 8 CPUs, but the cgroup allows 2.5"},
             {in_quota(wide("2"), "2.5"), 2, "CPU", ""},
             {in_quota(wide("8"), "none"), 8, "CPU", ""},
             {with(alone("a", 1, 5), "replicas", "2"), 4, "CPU", ""},  // 2 threads each
             {on_gpus(step_run("a", 2, 1), {" [GPU-1]", " [GPU-2]"}), 2, "GPU", ""},
             {on_gpus(step_run("a", 2, 1), {" [GPU-1]", " [GPU-1]"}), 1, "GPU", "2 ranks on 1 GPU"},
             {on_gpus(dp, {" [GPU-1]"}), 4, "GPU",
              ""}}) {  // the row of a rank names its first GPU only
        EXPECT_EQ(cores_of(run).count, count) << oversubscription;
        EXPECT_EQ(cores_of(run).unit, unit);
        EXPECT_EQ(cores_of(run).oversubscription, oversubscription);
    }
    EXPECT_FALSE(cores_of(on_gpus(step_run("a", 2, 1), {" [GPU-1]", ""})).known());
    EXPECT_EQ(threads_text(with_threads(step_run("a", 2, 1), {1, 2})), "1 or 2");
}

TEST(Cores, AreUnknownWhereTheFileDoesNotSayOrItsRunsDiffer) {
    for (const char* cpus : {"", "unknown", "3-1", "0-", "-", "0-1-2", "99999999999999999999"})
        EXPECT_THAT(cores_of(on_cpus(step_run("a", 1, 1), {cpus})).why_not, HasSubstr("CPUs"))
            << cpus;
    StoredRun run = step_run("a", 1, 1);
    std::erase_if(run.config, [](const auto& one) { return one.key == "threads"; });
    EXPECT_THAT(cores_of(run).why_not, HasSubstr("threads"));
    EXPECT_EQ(common_cores({{.count = 2}, {.count = 2}}).count, 2U);
    const Cores mixed = common_cores(
        {{.count = 2}, {.count = 4, .oversubscription = "5 compute threads on 4 CPUs"}});
    EXPECT_EQ(mixed.why_not, "the runs used 2 cores and 4 cores");
    EXPECT_EQ(mixed.oversubscription, "5 compute threads on 4 CPUs");
}

TEST(Groups, AreSortedByNumbersThenTexts) {
    const auto groups = groups_by(
        {"ranks"}, {step_run("a", 16, 0.1), step_run("b", 2, 0.1), step_run("c", 1, 0.1)});
    Keys keys;
    for (const auto group : groups.all()) keys.push_back(groups.key(group, "ranks"));
    EXPECT_THAT(keys, ElementsAre("1", "2", "16"));
    EXPECT_THAT(groups.measurements(), ElementsAre("step_time_s", "throughput_samples_per_s"));
    for (const Keys& none : {Keys{""}, Keys{"ranks", "ranks"}, Keys{"ranks", ""}})
        EXPECT_THROW(groups_by(none, {}), base::OptionError);
}

StoredRun with_fact(StoredRun run, const std::string& section, const std::string& key,
                    const std::string& value) {
    std::erase_if(run.context,
                  [&](const auto& one) { return one.section == section && one.key == key; });
    run.context.push_back({section, key, value});
    return run;
}

StoredRun on_host(StoredRun run, const std::string& host) {
    for (auto& row : run.hosts) row.host = host;
    return run;
}

// Runs that differ in a condition have separate rows, and are no baseline of each other.
TEST(Groups, NeverPoolRunsOfDifferentSurroundings) {
    const StoredRun one = step_run("a", 1, 0.1), two = step_run("b", 1, 0.3);
    StoredRun revised = two;
    revised.git_revision = "fedcba987654";
    for (const auto& [name, other] :
         {std::pair<std::string, StoredRun>{"host.cpu",
                                            with_fact(two, "host", "cpu", "Another CPU")},
          {"build.compiler", with_fact(two, "build", "compiler", "GCC 1")},
          {"libraries.libtorch_cpu_capability",
           with_fact(two, "libraries", "libtorch_cpu_capability", "AVX512")},
          {"environment.ONEDNN_MAX_CPU_ISA",
           with_fact(two, "environment", "ONEDNN_MAX_CPU_ISA", "AVX2")},
          {"hosts", on_host(two, "node77")},
          {"git_revision", revised}}) {
        const auto [groups, scaling] = scaling_by({"ranks"}, {one, other});
        EXPECT_EQ(groups.size(), 2U) << name;
        EXPECT_THAT(groups.apart(), ElementsAre(name));
        EXPECT_FALSE(scaling.baseline(0, false) || scaling.baseline(1, false)) << name;
    }
}

// A misspelt word of --ignore is refused.
TEST(Groups, PoolThemWhereTheUserAllowsIt) {
    const Runs runs{with_fact(step_run("a", 1, 0.1), "host", "cpu", "A64FX"),
                    on_host(step_run("b", 1, 0.3), "node77")};
    EXPECT_EQ(groups_by({"ranks"}, runs, {"hosts", "host.cpu"}).size(), 1U);
    for (const char* word : {"hosts", "host", "host.*", "host.cpu", "cpu", "version", "*"})
        EXPECT_LE(groups_by({"ranks"}, runs, {word}).size(), 2U) << word;
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([&] {
                    groups_by({"ranks"}, runs, {"hosts", "hots"});
                }),
                HasSubstr("hosts?"));
}

TEST(Groups, CountWhatIsLeftOutAndSayWhatIsDoubtful) {
    Runs runs{step_run("a", 2, 0.1), step_run("b", 2, 0.1), step_run("c", 2, 0.1),
              step_run("d", 2, 0.1)};
    runs[1].valid = false;
    runs[2].measurements.clear();
    runs[3].add_fact(fact::kConverged, vocabulary::FactWord::no, "(3.1 % after 40 steps)");
    runs[3].config.push_back({"accumulate", "2", true});
    const auto groups = groups_by({"ranks"}, runs);
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups.members(0).size(), 2U);
    EXPECT_EQ(groups.without(), 1U);
    for (const auto kind : {CaveatKind::left_out, CaveatKind::not_converged, CaveatKind::differs})
        EXPECT_TRUE(groups.table().rows[0].has(kind));
}

// On a page, whose groups are by all settings, too.
TEST(Groups, OfSeveralLabelsSaySo) {
    Runs runs{step_run("a", 2, 0.1), step_run("b", 2, 0.1)};
    EXPECT_FALSE(groups_by({}, runs).table().rows[0].has(CaveatKind::differs));
    runs[1].label = "other";
    EXPECT_TRUE(groups_by({}, runs).table().rows[0].has(CaveatKind::differs));
    EXPECT_FALSE(groups_by({"label"}, runs).table().rows[0].has(CaveatKind::differs));
}

// `busy` of the run's CPUs are used by other processes; NaN: not measured.
StoredRun beside(StoredRun run, double busy) {
    std::erase_if(run.context, [](const auto& one) { return one.section == "place"; });
    if (std::isnan(busy)) return run;
    run.context.push_back({"place", "others_cores", fmt::format("{}", busy)});
    run.context.push_back({"place", "others_cores_host", run.hosts.front().host});
    return run;
}

// Of the run's own CPUs, also in runs whose program called half a CPU quiet.
TEST(OtherLoad, IsAShareOfTheRunsCpus) {
    auto one = beside(ranks("a", 1, 0.1), 0.45);
    one.add_fact(fact::kQuietHosts, vocabulary::FactWord::yes);
    EXPECT_DOUBLE_EQ(other_load(one), 0.45);
    EXPECT_DOUBLE_EQ(other_load(beside(ranks("b", 3, 0.1), 0.45)), 0.15);
    EXPECT_TRUE(std::isnan(other_load(beside(ranks("c", 2, 0.1), NAN))));
    const auto load = [](const std::vector<double>& shares) { return OtherLoad(shares); };
    for (const auto& [a, b, differs] : std::vector<std::tuple<OtherLoad, OtherLoad, bool>>{
             {load({0, 0.01, 0}), load({0.02, 0, 0.04}), false},
             {load({0, 0, 0}), load({0.4, 0.5, 0.4}), true},
             {load({0.01, 0.01, 0.01}), load({0.06, 0.06, 0.06}), true},
             {load({0.4, 0.5, 0.4}), load({0.42, 0.41, 0.47}), false},
             {load({0.4, 0.5, 0.4}), load({0.6, 0.6, 0.6}), true},
             {load({NAN, NAN}), load({NAN, NAN}), false},
             {load({0, 0}), load({0, NAN}), true}}) {
        EXPECT_EQ(a.differs_from(b), differs) << a.text() << " | " << b.text();
        EXPECT_EQ(b.differs_from(a), differs) << a.text() << " | " << b.text();
    }
}

TEST(Groups, TellLoadThatWasOrWasNotMeasured) {
    const auto caveats = [](double busy) {
        return groups_by({"ranks"}, {beside(ranks("a", 2, 0.1), busy)}).table().rows[0];
    };
    EXPECT_TRUE(caveats(0.2).has(CaveatKind::other_load));
    EXPECT_FALSE(caveats(0.02).has(CaveatKind::other_load));
    EXPECT_FALSE(caveats(0.02).has(CaveatKind::load_not_measured));
    EXPECT_TRUE(caveats(NAN).has(CaveatKind::load_not_measured));
    const auto of_run = caveats_of(beside(ranks("a", 2, 0.1), 0.2));
    EXPECT_THAT(of_run,
                ::testing::Contains(::testing::Field(&Caveat::kind, CaveatKind::other_load)));
    EXPECT_THAT(of_run,
                ::testing::Contains(::testing::Field(&Caveat::kind, CaveatKind::single_run)));
}

// A table per command; one table has the command as a key.
TEST(Groups, OfSeveralCommandsAreNoSeries) {
    StoredRun io = ranks("b", 1, 0.1);
    io.command = "io";
    io.measurements = {results::one_value("job_time_s", "s", results::Kind::cost, {0.1})};
    const auto all = groups_by({"ranks"}, {ranks("a", 1, 0.1), io, ranks("c", 2, 0.1)});
    EXPECT_THAT(all.keys(), ElementsAre("ranks", "command"));
    EXPECT_EQ(all.size(), 3U);
    const auto parts = all.by_command();
    ASSERT_EQ(parts.size(), 2U);
    for (const auto& part : parts) EXPECT_THAT(part.keys(), ElementsAre("ranks"));
}

// A single device with 2 threads and 2 ranks with one thread use equally many cores.
TEST(Scaling, CostsCoresNotRanks) {
    const auto same =
        scaling_by({"ranks"}, {strong(alone("a", 0.2, 2)), strong(ranks("b", 2, 0.1))}).scaling;
    ASSERT_EQ(same.table.rows.size(), 2U);
    EXPECT_NEAR(same.at(1, "speedup").number, 2, 1e-9);
    EXPECT_NEAR(same.at(1, "strong_efficiency").number, 2, 1e-9);
    const auto weak = scaling_by({"ranks"}, {alone("a", 0.1, 2), ranks("b", 2, 0.1)}).scaling;
    EXPECT_NEAR(weak.at(1, "weak_efficiency").number, 2, 1e-9) << "twice the work on 2 cores";
    EXPECT_TRUE(weak.at(1, "speedup").empty()) << "a step of another batch";
    const auto even = scaling_by({"ranks"}, {alone("a", 0.1, 1), ranks("b", 2, 0.125)}).scaling;
    EXPECT_NEAR(even.at(1, "weak_efficiency").number, 0.8, 1e-9);
    EXPECT_TRUE(std::isnan(even.at(1, "weak_efficiency").interval.low)) << "single runs";
}

// Strong and weak rows of 2 and 4 ranks share the baseline at one rank.
TEST(Scaling, TheFirstPointIsWeakAndStrongAtOnce) {
    const auto scaling =
        scaling_by({"ranks", "batch-size"},
                   {alone("a", 0.1, 1), ranks("b", 2, 0.125), strong(ranks("c", 2, 0.0625)),
                    ranks("d", 4, 0.2), strong(ranks("e", 4, 0.05))})
            .scaling;
    ASSERT_EQ(scaling.table.rows.size(), 5U);
    EXPECT_TRUE(scaling.is_baseline(0));
    EXPECT_NEAR(scaling.at(1, "strong_efficiency").number, 0.8, 1e-9);  // 2 ranks of 16
    EXPECT_NEAR(scaling.at(2, "weak_efficiency").number, 0.8, 1e-9);    // 2 of 32
    EXPECT_NEAR(scaling.at(3, "strong_efficiency").number, 0.5, 1e-9);  // 4 of 8
    EXPECT_NEAR(scaling.at(4, "weak_efficiency").number, 0.5, 1e-9);    // 4 of 32
}

// Runs with different ids, each 0.1 % slower than the one before.
Runs times(int count, const StoredRun& run) {
    Runs runs;
    for (int i = 0; i < count; ++i) {
        runs.push_back(run);
        runs.back().id += std::to_string(i);
        for (auto& m : runs.back().measurements) m.summary.median *= 1 + 0.001 * i;
    }
    return runs;
}

Runs joined(std::initializer_list<Runs> parts) {
    Runs all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

Verdict verdict_of(const Keys& keys, const Runs& runs) {
    const auto scaling = scaling_by(keys, runs).scaling;
    EXPECT_THAT(scaling.findings, SizeIs(1));
    return scaling.findings.empty() ? Verdict::nothing_verified : scaling.findings.front().verdict;
}

TEST(Scaling, AVerdictIsOfRunsAndSingleOnesDoNotTell) {
    const auto of = [](int count, double time_s) {
        return verdict_of({"ranks"}, joined({times(count, strong(alone("a", 0.2, 1))),
                                             times(count, strong(ranks("b", 2, time_s)))}));
    };
    EXPECT_EQ(of(5, 0.1), Verdict::fastest);
    EXPECT_EQ(of(5, 0.4), Verdict::fastest_of_others);
    EXPECT_EQ(of(5, 0.2), Verdict::undecided);
    EXPECT_EQ(of(2, 0.1), Verdict::single_runs);
    EXPECT_EQ(of(1, 0.1), Verdict::single_runs);
    EXPECT_EQ(verdict_of({"ranks"},
                         joined({times(4, alone("a", 0.1, 1)), times(4, ranks("b", 2, 0.125))})),
              Verdict::weak_scaling);
    EXPECT_EQ(verdict_of({"ranks"}, {alone("a", 0.1, 1), ranks("b", 2, 0.125)}),
              Verdict::weak_scaling_undecided);
}

// The best of eight rows is compared with seven: their correction makes 5 runs a row too few.
TEST(Scaling, TheBestOfManyRowsTakesMoreRuns) {
    const auto of = [](int count) {
        Runs runs;
        for (int i = 0; i < 8; ++i)
            for (auto& run : times(count, with(ranks(fmt::format("r{}", i), 2, i == 0 ? 0.1 : 0.2),
                                               "sync", fmt::format("s{}", i))))
                runs.push_back(std::move(run));
        return verdict_of({"sync"}, runs);
    };
    EXPECT_EQ(of(5), Verdict::undecided);
    EXPECT_EQ(of(6), Verdict::fastest_of_others);
}

TEST(Scaling, NoVerdictRestsOnRowsBesideDifferentLoad) {
    const auto of = [](double busy_alone, double busy_ranks, bool weak) {
        const auto as = [&](const StoredRun& run) { return weak ? run : strong(run); };
        return scaling_by({"ranks"}, joined({times(5, beside(as(alone("a", 0.2, 1)), busy_alone)),
                                             times(5, beside(as(ranks("b", 2, 0.1)), busy_ranks))}))
            .scaling;
    };
    EXPECT_EQ(of(0.1, 0, false).findings.at(0).verdict, Verdict::fastest);
    EXPECT_EQ(of(6, 0, false).findings.at(0).verdict, Verdict::other_load);
    EXPECT_EQ(of(0, 1, true).findings.at(0).verdict, Verdict::weak_scaling_undecided);
    EXPECT_EQ(of(NAN, NAN, true).findings.at(0).verdict, Verdict::weak_scaling);
    EXPECT_TRUE(of(0, 1, true).table.rows[1].has(CaveatKind::load_differs));
}

TEST(Scaling, WaysToDoTheSameWorkAreComparedWithTheUsualOne) {
    Runs runs = joined({times(3, strong(ranks("a", 2, 0.1))),
                        times(3, strong(with(ranks("b", 2, 0.2), "sync", "per-parameter")))});
    auto scaled = scaling_by({"sync"}, runs);
    ASSERT_THAT(scaled.scaling.findings, SizeIs(1));
    EXPECT_EQ(scaled.scaling.findings[0].subject, "sync = flat");
    EXPECT_EQ(scaled.scaling.findings[0].against, "sync = per-parameter");
    EXPECT_NEAR(scaled.scaling.findings[0].ratio.ratio, 2, 1e-9);
    EXPECT_EQ(verdict_of({"mode"}, joined({times(5, strong(alone("a", 0.2, 1))),
                                           times(5, strong(ranks("b", 2, 0.1)))})),
              Verdict::fastest);
    EXPECT_THAT(
        scaling_by({"sync"},
                   joined({times(3, strong(ranks("a", 2, 0.1))),
                           times(3, strong(with(ranks("b", 4, 0.05), "sync", "per-parameter")))}))
            .scaling.findings,
        IsEmpty())
        << "on more cores";
    runs.back() = with(runs.back(), "global-batch-size", "64");
    EXPECT_THAT(scaling_by({"sync"}, runs).scaling.findings, IsEmpty()) << "other work";
    const auto none = scaling_by(
        {"sync"}, joined({runs, times(3, strong(with(ranks("c", 2, 0.01), "sync", "none")))}));
    ASSERT_THAT(none.scaling.findings, SizeIs(1)) << "of the fastest, none";
    EXPECT_EQ(none.scaling.findings[0].verdict, Verdict::sums_cost);
}

// A verdict over the ranks is not said again over the mode that follows from them.
TEST(Comparisons, SayNothingTwice) {
    const auto found = scaling_by({"mode", "ranks"}, joined({times(5, strong(alone("a", 0.2, 1))),
                                                             times(5, strong(ranks("b", 2, 0.1)))}))
                           .scaling.findings;
    EXPECT_THAT(found, SizeIs(1));
}

// Of a sweep over any setting: the usual value is the baseline.
TEST(Comparisons, AreOverWhateverASweepVaries) {
    for (const auto& [key, usual, other] :
         std::vector<std::tuple<std::string, std::string, std::string>>{
             {"precision", "fp32", "bf16"},
             {"jit", "false", "true"},
             {"fused-optimizer", "false", "true"},
             {"volume-access", "lowmem", "inmem"},
             {"workers", "0", "4"},
             {"device", "cpu", "cuda"}}) {
        const auto scaled =
            scaling_by({key}, joined({times(5, with(ranks("a", 1, 0.2), key, usual)),
                                      times(5, with(ranks("b", 1, 0.1), key, other))}));
        const std::size_t fast = scaled.groups.key(0, key) == other ? 0 : 1;
        EXPECT_TRUE(scaled.scaling.is_baseline(1 - fast)) << key;
        EXPECT_NEAR(scaled.scaling.at(fast, "speedup").number, 2, 1e-9) << key;
        ASSERT_THAT(scaled.scaling.findings, SizeIs(1)) << key;
        EXPECT_EQ(scaled.scaling.findings[0].verdict, Verdict::fastest) << key;
        EXPECT_EQ(scaled.scaling.findings[0].subject, key + " = " + other);
    }
}

StoredRun with_time(StoredRun run, const std::string& name, double median) {
    run.measurements.push_back(run.measurements.front());
    run.measurements.back().name = name;
    run.measurements.back().summary.median = median;
    return run;
}

// What the slower of two modes on as many cores pays is in the line that tells how much slower.
TEST(Comparisons, OfReplicasAndRanksNameWhatTheSlowerOnePays) {
    const auto dp = with_time(with(with(strong(alone("a", 0.2, 2)), "mode", "dp"), "replicas", "2"),
                              "replicate_time_s", 0.08),
               ddp = with_time(strong(ranks("b", 2, 0.1)), "sync_exposed_time_s", 0.01);
    const auto found = scaling_by({"mode"}, joined({times(5, dp), times(5, ddp)})).scaling.findings;
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].verdict, Verdict::pays);
    EXPECT_EQ(found[0].subject + " | " + found[0].against, "mode = ddp | mode = dp");
    EXPECT_NEAR(found[0].ratio.ratio, 2, 1e-9);
    EXPECT_THAT(sentence(found[0]), testing::HasSubstr("mode = dp pays 80.2 ms for replicate, "
                                                       "25.1 ms for forward of a step of 200 ms"));
    EXPECT_EQ(scaling_by({"mode"}, {dp, ddp}).scaling.findings.at(0).verdict,
              Verdict::pays_undecided);
}

// What summing gradients costs: against ranks that each train a model of their own.
TEST(Comparisons, OfSumsNameTheirCost) {
    const auto own = with(ranks("a", 2, 0.1), "sync", "none"),
               summed = with(ranks("b", 2, 0.125), "sync", "bucketed");
    const auto scaled = scaling_by({"sync"}, joined({times(5, own), times(5, summed)})).scaling;
    ASSERT_THAT(scaled.findings, SizeIs(1));
    EXPECT_EQ(scaled.findings[0].verdict, Verdict::sums_cost);
    EXPECT_NEAR(scaled.findings[0].ratio.ratio, 1.25, 1e-9);
    EXPECT_THAT(sentence(scaled.findings[0]),
                testing::HasSubstr("sync = bucketed takes 1.25 times as long as sync = none"));
    EXPECT_EQ(scaling_by({"sync"}, {own, summed}).scaling.findings.at(0).verdict,
              Verdict::sums_cost_undecided);
}

// --measure epoch_time_s: an epoch is the same work at any batch.
TEST(Scaling, IsOfTheTimeThatWasAskedFor) {
    const GroupQuery query{.keys = {"ranks"}, .measurements = {"epoch_time_s"}};
    Frame table;
    for (const auto& run : joined({times(3, with_time(alone("a", 0.1, 1), "epoch_time_s", 9)),
                                   times(3, with_time(ranks("b", 2, 0.11), "epoch_time_s", 6))}))
        add_run(table, query, run);
    const Groups groups(std::move(table), query);
    const Scaling scaling = scaling_of(groups);
    EXPECT_NEAR(scaling.at(1, "speedup").number, 1.5, 1e-9);
    EXPECT_NEAR(scaling.at(1, "strong_efficiency").number, 0.75, 1e-9);
    EXPECT_FALSE(scaling.shows("weak_efficiency"));
    ASSERT_THAT(scaling.findings, SizeIs(1));
    EXPECT_THAT(sentence(scaling.findings[0]), HasSubstr("6.01 s"));
}

TEST(Groups, HaveTheLossAfterTheLastEpoch) {
    StoredRun run = with_time(ranks("a", 1, 0.1), "validation_loss", 2);
    run.tables.push_back({"epochs", {{"validation_loss", std::vector<double>{3, 2, 1}}}});
    const auto groups = groups_by({"ranks"}, {run});
    EXPECT_EQ(groups.estimate(0, "validation_loss").number, 1);
}

StoredRun of_batch(const std::string& id, int batch, double step_s) {
    StoredRun run = with(with(ranks(id, 1, step_s), "batch-size", std::to_string(batch)),
                         "global-batch-size", std::to_string(batch));
    run.measurements.back().summary.median = batch / step_s;
    return run;
}

TEST(Comparisons, OfBatchesAreOfRatesAndOfModelsNameTheirSize) {
    const auto batches =
        scaling_by({"batch-size"},
                   joined({times(5, of_batch("a", 32, 0.1)), times(5, of_batch("b", 64, 0.16))}));
    EXPECT_NEAR(batches.scaling.at(1, "speedup").number, 400.0 / 320, 1e-9);
    EXPECT_EQ(batches.scaling.findings.at(0).subject, "batch-size = 64");
    const auto model = [](const char* id, const char* name, double step_s, const char* size) {
        return with_fact(with(ranks(id, 1, step_s), "model", name), "training", "parameters", size);
    };
    const auto models =
        scaling_by({"model"}, joined({times(5, model("a", "resnet152", 0.23, "58348708")),
                                      times(5, model("b", "resnet50", 0.1, "23712932"))}));
    const auto& found = models.scaling.findings;
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].verdict, Verdict::larger_model);
    EXPECT_EQ(found[0].subject, "model = resnet152");
    EXPECT_NEAR(found[0].ratio.ratio, 2.3, 1e-9);
    EXPECT_EQ(found[0].value, "2.46");
    // Models have optimizers of their own.
    const auto own = scaling_by(
        {"model"}, {with(model("a", "resnet18", 0.2, "2000"), "optimizer", "sgd"),
                    with(model("b", "mnist-cnn", 0.1, "1000"), "optimizer", "adadelta")});
    EXPECT_THAT(own.scaling.findings, SizeIs(1));
}

TEST(Comparisons, LeaveOutOtherWorkAndCompareOneKeyAtATime) {
    const auto other = scaling_by(
        {"precision"}, {with(ranks("a", 1, 0.2), "precision", "fp32"),
                        with(with(ranks("b", 1, 0.1), "precision", "bf16"), "optimizer", "adam")});
    EXPECT_THAT(other.scaling.findings, IsEmpty());
    EXPECT_FALSE(other.scaling.shows("speedup"));
    Runs runs;
    for (const char* precision : {"fp32", "bf16"})
        for (const char* jit : {"false", "true"})
            runs.push_back(with(with(ranks(precision + std::string(jit), 1, 0.1), "jit", jit),
                                "precision", precision));
    EXPECT_THAT(scaling_by({"precision", "jit"}, runs).scaling.findings, SizeIs(4));
    // As in a sweep at one number of ranks.
    EXPECT_TRUE(scaling_by({"precision", "jit", "ranks"}, runs).scaling.shows("speedup"));
}

TEST(Scaling, OtherWorkHasNoBaseline) {
    for (const auto& [key, value] :
         {std::pair{"model", "resnet18"}, {"data", "cifar100"}, {"precision", "bf16"}}) {
        const auto scaled = scaling_by(
            {"ranks"}, {strong(alone("a", 0.2, 1)), with(strong(ranks("b", 2, 0.1)), key, value)});
        EXPECT_FALSE(scaled.scaling.baseline(1, false)) << key;
        EXPECT_TRUE(scaled.scaling.table.rows[1].has(CaveatKind::other_work)) << key;
    }
    const auto slow =
        scaling_by({"ranks"}, {strong(alone("a", 0.5, 1)), strong(ranks("b", 2, 0.1))});
    EXPECT_TRUE(slow.scaling.table.rows[1].has(CaveatKind::too_efficient));
}

TEST(Scaling, OfThreadsAndOfWorkers) {
    const auto threads = [](const char* id, int count, double step_s) {
        return alone(id, step_s, count);
    };
    const auto computing =
        scaling_by({"threads"}, {threads("a", 1, 0.2), threads("b", 4, 0.1)}).scaling;
    EXPECT_NEAR(computing.at(1, "speedup").number, 2, 1e-9);
    EXPECT_NEAR(computing.at(1, "strong_efficiency").number, 0.5, 1e-9);
    const auto rung = [](int workers, double time_s) {
        StoredRun run = rung_run("process-pool", 1, workers, {time_s, {}});
        for (auto& host : run.hosts) host.cpus = "0-7";
        return run;
    };
    const auto writing = scaling_by({"workers"}, {rung(1, 0.4), rung(4, 0.2)}).scaling;
    EXPECT_NEAR(writing.at(1, "speedup").number, 2, 1e-9);
}

TEST(Curves, AreOfOneWorkAndAscend) {
    Runs runs{alone("a", 0.1, 1), ranks("b", 2, 0.11), ranks("c", 4, 0.12),
              with(ranks("d", 2, 0.2), "sync", "bucketed"),
              with(alone("e", 1, 1), "model", "resnet18")};
    const auto groups = groups_by({}, runs);
    const auto curves = curves_of(groups, scaling_over(groups, "ranks"), true);
    ASSERT_THAT(curves, SizeIs(2));
    Keys titles;
    for (const auto& curve : curves) {
        titles.push_back(curve.title);
        EXPECT_EQ(curve.widths.front(), 1);
        EXPECT_TRUE(std::ranges::is_sorted(curve.widths));
    }
    EXPECT_THAT(titles,
                testing::UnorderedElementsAre("mnist-cnn, ddp flat", "mnist-cnn, ddp bucketed"));
}

TEST(Titles, HaveNoMorePartsThanTellGroupsApart) {
    const Runs runs{ranks("a", 2, 0.1), with(ranks("b", 2, 0.1), "lr", "0.1"),
                    with(ranks("c", 2, 0.1), "model", "resnet18"), ranks("d", 4, 0.1)};
    const auto groups = groups_by({}, runs);
    Keys names;
    for (const auto group : groups.all()) names.push_back(groups.name(group));
    EXPECT_THAT(names, testing::UnorderedElementsAre(
                           "mnist-cnn, ddp flat, 2 ranks", "mnist-cnn, ddp flat, lr 0.1, 2 ranks",
                           "resnet18, ddp flat, 2 ranks", "mnist-cnn, ddp flat, 4 ranks"));
}

// How often runs of equal speed get a firm verdict.
int firm_of(int tries, int runs_a_side, double spread) {
    stats::Random random(7);
    int firm = 0;
    for (int i = 0; i < tries; ++i) {
        Runs runs;
        for (int run = 0; run < 2 * runs_a_side; ++run) {
            const bool flat = run % 2 == 0;
            const double noise =
                1 + spread * (random.uniform() + random.uniform() + random.uniform() - 1.5);
            runs.push_back(strong(with(ranks(fmt::format("{}-{}", i, run), 2, 0.1 * noise), "sync",
                                       flat ? "flat" : "bucketed")));
        }
        const Verdict verdict = verdict_of({"sync"}, runs);
        firm += verdict == Verdict::fastest || verdict == Verdict::fastest_of_others ? 1 : 0;
    }
    return firm;
}

TEST(Verdicts, OfEqualRunsAreRarelyFirm) {
    EXPECT_EQ(firm_of(40, 1, 0.1), 0) << "single runs";
    EXPECT_EQ(firm_of(40, 3, 0.1), 0) << "threes";
    EXPECT_LE(firm_of(400, 5, 0.1), 28);
}

// One question, one test: rows that report tells apart are those that compare calls better or
// worse.
TEST(Verdicts, AreThoseOfCompare) {
    stats::Random random(11);
    int firm = 0;
    for (int i = 0; i < 60; ++i) {
        compare::Side a{.name = "A", .runs = {}}, b{.name = "B", .runs = {}};
        Runs runs;
        for (int run = 0; run < 10; ++run) {
            const bool flat = run % 2 == 0;
            const double step_s = 0.1 * (flat ? 1 : 1.04) * std::exp(0.02 * random.normal());
            runs.push_back(strong(with(ranks(fmt::format("{}-{}", i, run), 2, step_s), "sync",
                                       flat ? "flat" : "bucketed")));
            (flat ? a : b).runs.push_back(runs.back());
        }
        const Verdict best = verdict_of({"sync"}, runs);
        const auto compared = compare::compare(
            a, b, {.measurements = {"step_time_s"}, .ignore = {"sync"}, .with_unverified = true});
        const auto outcome = compared.groups.at(0).rows.at(0).outcome;
        const bool differ =
            outcome == compare::Outcome::worse || outcome == compare::Outcome::better;
        EXPECT_EQ(best == Verdict::fastest || best == Verdict::fastest_of_others, differ) << i;
        firm += differ ? 1 : 0;
    }
    EXPECT_GT(firm, 10);
    EXPECT_LT(firm, 50);
}

TEST(StepParts, AreTheTablesShares) {
    StoredRun run = results::sample_run();
    run.tables = {{"phases",
                   {{"phase", std::vector<std::string>{"forward", "other", "step"}},
                    {"per_hit_s", std::vector<double>{0.1, 0.02, 0.12}},
                    {"percent", std::vector<double>{83, 17, 100}}}}};
    const auto parts = step_parts(run);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].number("percent"), 83);
    EXPECT_EQ(parts[1].text("phase"), "other");
}

// More files are more work, so the rates are compared, not the times.
TEST(Comparison, OfOtherNumbersOfFilesIsOfRates) {
    Runs runs;
    for (const auto& [files, rate] : {std::pair{"100", 800.0}, {"400", 900.0}}) {
        runs.push_back(rung_run("binary", 1, 1, {files[0] == '1' ? 0.1 : 0.35, {}}));
        runs.back().id = files;
        runs.back().config[1].value = files;
        runs.back().measurements[1] =
            io_measurement("write_MiBps", "MiB/s", results::Kind::rate, {rate, {}});
    }
    const Scaling scaling = scaling_of(groups_by({"files"}, runs));
    ASSERT_EQ(scaling.findings.size(), 1U);
    EXPECT_EQ(scaling.findings[0].subject, "files = 400");
    EXPECT_NEAR(scaling.findings[0].ratio.ratio, 1.125, 1e-9);
}

}  // namespace
}  // namespace ranklab::report::model
