#include "report/model/scaling.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/model/cores.hpp"
#include "report/model/series.hpp"
#include "report/model/step_parts.hpp"
#include "unit/report/io_runs_sample.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::model {
namespace {

using results::StoredRun;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Rows = std::vector<ScalingRow>;
using Keys = std::vector<std::string>;

StoredRun with(StoredRun run, const std::string& key, const std::string& value) {
    std::erase_if(run.config, [&](const auto& one) { return one.key == key; });
    run.config.push_back({key, value, false});
    return run;
}

StoredRun on_cpus(StoredRun run, const std::vector<std::string>& cpus) {
    for (std::size_t i = 0; i < run.hosts.size(); ++i) run.hosts[i].cpus = cpus[i % cpus.size()];
    return run;
}

// `train` alone with so many threads, and ranks with one each; each on CPUs of its own.
StoredRun alone(const std::string& id, double step_s, int threads) {
    return on_cpus(
        with(with(step_run(id, 1, step_s, "none"), "mode", "single"), "threads", std::to_string(threads)),
        {"0-7"});
}

StoredRun ranks(const std::string& id, int count, double step_s) {
    return on_cpus(step_run(id, count, step_s), {"0", "1", "2", "3"});
}

StoredRun strong(StoredRun run) {
    const auto of_rank = 32 / run.hosts.size();
    return with(with(std::move(run), "global-batch-size", "32"), "batch-size", std::to_string(of_rank));
}

GroupScaling scaling_by(const Keys& keys, const std::vector<StoredRun>& runs) {
    const StoredRuns stored(runs);
    RunGroups groups(keys, {});
    for (const auto& run : runs) groups.add(run);
    return scaling_of(groups.sorted(), groups.keys(),
                      [&](const std::string& id) { return stored.file().read(id); });
}

TEST(Cores, AreTheComputeThreadsOfAllRanksButNoMoreThanTheirCpus) {
    EXPECT_EQ(cores_of(alone("a", 1, 2)).count, 2U);
    EXPECT_EQ(cores_of(ranks("a", 2, 1)).count, 2U);
    const Cores crowded = cores_of(on_cpus(step_run("a", 3, 1), {"0-1"}));
    EXPECT_EQ(crowded.count, 2U);
    EXPECT_EQ(crowded.crowded, "3 compute threads on 2 CPUs");
    const Cores bound = cores_of(with(ranks("a", 2, 1), "threads", "4"));
    EXPECT_EQ(bound.count, 2U);
    EXPECT_EQ(bound.crowded, "4 compute threads on 1 CPU of a rank");
    StoredRun two_hosts = on_cpus(step_run("a", 2, 1), {"0"});
    two_hosts.hosts[1].host = "node02";
    EXPECT_EQ(cores_of(two_hosts).count, 2U) << "CPU 0 of each";
    EXPECT_FALSE(cores_of(two_hosts).oversubscribed());
}

// One rank has fewer CPUs than threads, although all together have enough.
TEST(Cores, ARankCannotUseAnothersCpus) {
    const Cores cores = cores_of(with(on_cpus(step_run("a", 2, 1), {"0", "1-7"}), "threads", "4"));
    EXPECT_EQ(cores.count, 5U);
    EXPECT_TRUE(cores.oversubscribed());
}

// What one set has to spare is no help to ranks that may not use it.
TEST(Cores, AreThoseOfEachSetOfRanksThatShareSome) {
    const Cores cores = cores_of(with(on_cpus(step_run("a", 3, 1), {"0-1", "0-1", "2-5"}), "threads", "2"));
    EXPECT_EQ(cores.count, 4U);
    EXPECT_EQ(cores.crowded, "4 compute threads on 2 CPUs");
}

TEST(Cores, ArePhysicalOnesWhereTheFileHasThem) {
    StoredRun run = with(on_cpus(step_run("a", 1, 1), {"0-15"}), "threads", "16");
    EXPECT_EQ(cores_of(run).unit(), "CPU") << "an older file tells hardware threads alone";
    EXPECT_FALSE(cores_of(run).oversubscribed());
    run.hosts[0].cores = "0-7";
    EXPECT_EQ(cores_of(run).count, 8U);
    EXPECT_EQ(cores_of(run).unit(), "core");
    EXPECT_EQ(cores_of(run).crowded, "16 compute threads on 8 cores of a rank");
    StoredRun siblings = on_cpus(step_run("b", 2, 1), {"0", "8"});
    for (auto& row : siblings.hosts) row.cores = "0";
    EXPECT_EQ(cores_of(siblings).crowded, "2 compute threads on 1 core");
}

StoredRun with_threads(StoredRun run, const std::vector<int>& threads) {
    for (std::size_t i = 0; i < run.hosts.size(); ++i) run.hosts[i].threads = threads[i];
    return run;
}

TEST(Cores, OfRanksWithDifferentThreadsAreTheirSum) {
    const StoredRun run = with_threads(on_cpus(step_run("a", 2, 1), {"0-3", "4-7"}), {1, 2});
    EXPECT_EQ(cores_of(run).count, 3U);
    EXPECT_EQ(threads_per_rank(run), 0U);
    EXPECT_EQ(threads_text(run), "1 or 2");
    EXPECT_EQ(factors_of(run)["threads"], "1 or 2");
    const auto scaling = scaling_by({"threads"}, {alone("b", 1, 1), with(run, "mode", "single")});
    EXPECT_THAT(scaling.rows, SizeIs(1)) << "they have one key";
}

TEST(Scaling, OfWaysToDoTheSameWorkNamesTheFastest) {
    const StoredRun slow = with(step_run("a", 2, 0.2), "sync", "flat");
    const StoredRun fast = with(step_run("b", 2, 0.1), "sync", "bucketed");
    EXPECT_THAT(scaling_by({"sync"}, {slow, fast}).best,
                ElementsAre(HasSubstr("best: sync = bucketed, step_time_s 0.1 s")));
    EXPECT_THAT(scaling_by({"sync"}, {slow, fast}).notes, SizeIs(0));
    const auto of_32 = [](const StoredRun& run) { return with(run, "global-batch-size", "32"); };
    const auto wider =
        scaling_by({"sync"}, {of_32(slow), of_32(with(step_run("c", 4, 0.1), "sync", "bucketed"))});
    EXPECT_THAT(wider.best, ElementsAre(testing::EndsWith("; the rows differ in ranks, too")));
    EXPECT_THAT(wider.notes,
                ElementsAre("the rows differ in ranks, too; keys of the table tell such rows apart"));
    EXPECT_THAT(scaling_by({"sync"}, {slow, with(fast, "global-batch-size", "7")}).best, SizeIs(0))
        << "other work";
    EXPECT_THAT(scaling_by({"model"}, {slow, with(fast, "model", "resnet18")}).best, SizeIs(0));
}

TEST(Cores, AreNoMoreThanTheCgroupAllows) {
    StoredRun run = with(on_cpus(step_run("a", 1, 1), {"0-7"}), "threads", "8");
    run.context.push_back({"host", "cpu_quota", "2.5"});
    EXPECT_EQ(cores_of(run).count, 3U);
    EXPECT_EQ(cores_of(run).crowded, "threads on 8 CPUs where the cgroup allows 2.5 of them");
    EXPECT_FALSE(cores_of(with(run, "threads", "2")).oversubscribed());
    run.context.back().value = "none";
    EXPECT_EQ(cores_of(run).count, 8U);
}

TEST(Cores, OfReplicasAreThoseOfAllReplicas) {
    EXPECT_EQ(cores_of(with(alone("a", 1, 1), "replicas", "2")).count, 2U);
    EXPECT_EQ(cores_of(with(alone("a", 1, 4), "replicas", "2")).count, 4U);
    EXPECT_EQ(cores_of(with(alone("a", 1, 5), "replicas", "2")).count, 4U) << "2 threads each";
}

TEST(Cores, OnGpusAreTheDifferentOnes) {
    StoredRun run = with(step_run("a", 2, 1), "device", "cuda");
    run.hosts[0].device = "NVIDIA H100 [GPU-1]";
    run.hosts[1].device = "NVIDIA H100 [GPU-2]";
    EXPECT_EQ(cores_of(run).count, 2U);
    EXPECT_EQ(cores_of(run).unit(), "GPU");
    run.hosts[1].device = run.hosts[0].device;
    EXPECT_EQ(cores_of(run).crowded, "2 ranks on 1 GPU");
    run.hosts[1].device = "NVIDIA H100";
    EXPECT_FALSE(cores_of(run).known());
    StoredRun dp = with(with(step_run("a", 1, 1), "device", "cuda"), "replicas", "4");
    dp.hosts[0].device = "NVIDIA H100 [GPU-1]";
    EXPECT_EQ(cores_of(dp).count, 4U) << "one a replica, of which the rank's row names the first";
}

TEST(Cores, AreUnknownWhereTheFileDoesNotSay) {
    for (const char* cpus : {"", "unknown", "3-1", "0-", "-", "0-1-2", "99999999999999999999"}) {
        const Cores cores = cores_of(on_cpus(step_run("a", 1, 1), {cpus}));
        EXPECT_FALSE(cores.known()) << cpus;
        EXPECT_THAT(cores.why_not, HasSubstr("CPUs")) << cpus;
    }
    StoredRun run = step_run("a", 1, 1);
    std::erase_if(run.config, [](const auto& one) { return one.key == "threads"; });
    EXPECT_THAT(cores_of(run).why_not, HasSubstr("threads"));
    run.hosts.clear();
    EXPECT_FALSE(cores_of(run).known());
}

TEST(Cores, OfRunsThatDifferAreUnknown) {
    CoresOfRuns all;
    all.add({.count = 2});
    EXPECT_EQ(all.common().count, 2U);
    all.add({.count = 4, .crowded = "5 compute threads on 4 CPUs"});
    EXPECT_FALSE(all.common().known());
    EXPECT_EQ(all.common().why_not, "its runs used 2 cores and 4 cores");
    EXPECT_EQ(all.oversubscribed(), "1 of 2 runs: 5 compute threads on 4 CPUs");
}

// The issue's own: 2 threads alone against 2 x 1 are the same 2 cores.
TEST(Scaling, CostsCoresNotRanks) {
    const auto scaling = scaling_by({"ranks"}, {strong(alone("a", 0.2, 2)), strong(ranks("b", 2, 0.1))});
    ASSERT_EQ(scaling.rows.size(), 2U);
    EXPECT_EQ(scaling.unit, "CPU");
    EXPECT_NEAR(scaling.rows[1].speedup.ratio, 2, 1e-9);
    EXPECT_NEAR(scaling.rows[1].strong.efficiency.ratio, 2, 1e-9);
    EXPECT_THAT(scaling.rows[1].strong.apart, ElementsAre("threads 1 (base 2)"));
    EXPECT_THAT(scaling.bases, ElementsAre(HasSubstr("2 CPUs")));
}

TEST(Scaling, OfWorkThatGrowsWithTheRanksIsPerCoreToo) {
    const auto scaling = scaling_by({"ranks"}, {alone("a", 0.1, 2), ranks("b", 2, 0.1)});
    EXPECT_NEAR(scaling.rows[1].weak.efficiency.ratio, 2, 1e-9) << "twice the work on the same 2 cores";
    EXPECT_TRUE(std::isnan(scaling.rows[1].speedup.ratio)) << "a step of another batch";
    const auto even = scaling_by({"ranks"}, {alone("a", 0.1, 1), ranks("b", 2, 0.125)});
    EXPECT_NEAR(even.rows[1].weak.efficiency.ratio, 0.8, 1e-9);
    EXPECT_THAT(even.rows[1].weak.apart, IsEmpty());
}

TEST(Scaling, HasNoEfficiencyWhereCoresAreUnknown) {
    const auto scaling =
        scaling_by({"ranks"}, {strong(alone("a", 0.2, 1)), strong(on_cpus(step_run("b", 2, 0.1), {""}))});
    EXPECT_NEAR(scaling.rows[1].speedup.ratio, 2, 1e-9);
    EXPECT_TRUE(std::isnan(scaling.rows[1].strong.efficiency.ratio));
    EXPECT_EQ(scaling.rows[1].strong.why_no_efficiency, "the CPUs of its ranks are not stored");
}

// Rows of 2 and of 4 ranks, of either kind, have the one base at 1.
TEST(Scaling, TheFirstPointIsWeakAndStrongAtOnce) {
    const auto scaling = scaling_by({"ranks", "batch-size"},
                                    {alone("a", 0.1, 1), ranks("b", 2, 0.125), strong(ranks("c", 2, 0.0625)),
                                     ranks("d", 4, 0.2), strong(ranks("e", 4, 0.05))});
    ASSERT_EQ(scaling.rows.size(), 5U);
    EXPECT_TRUE(scaling.rows[0].weak.is_base && scaling.rows[0].strong.is_base);
    EXPECT_THAT(scaling.bases, ElementsAre(HasSubstr("ranks = 1, batch-size = 32, ")));
    EXPECT_NEAR(scaling.rows[1].strong.efficiency.ratio, 0.8, 1e-9);  // 2 ranks of 16
    EXPECT_NEAR(scaling.rows[2].weak.efficiency.ratio, 0.8, 1e-9);    // 2 of 32
    EXPECT_NEAR(scaling.rows[3].strong.efficiency.ratio, 0.5, 1e-9);  // 4 of 8
    EXPECT_NEAR(scaling.rows[4].weak.efficiency.ratio, 0.5, 1e-9);    // 4 of 32
}

TEST(Scaling, ClaimsNothingOfPooledOrOtherWork) {
    const StoredRun other = with(ranks("c", 2, 0.05), "batch-size", "8");
    const auto pooled = scaling_by({"ranks"}, {alone("a", 0.1, 1), ranks("b", 2, 0.1), other});
    EXPECT_THAT(pooled.rows[1].why_not, AllOf(HasSubstr("different work"), HasSubstr("batch-size")));
    EXPECT_TRUE(std::isnan(pooled.rows[1].speedup.ratio) && std::isnan(pooled.rows[1].weak.efficiency.ratio));
    EXPECT_THAT(pooled.bases, IsEmpty());
    const auto model = scaling_by({"ranks"}, {alone("a", 0.1, 1), with(ranks("b", 2, 1), "model", "unet3d")});
    EXPECT_EQ(model.rows[1].why_not, "other work than the base's (model)");
    const auto base = scaling_by({"ranks"}, {alone("a", 0.1, 1), with(alone("x", 3, 1), "model", "unet3d"),
                                             ranks("b", 2, 0.1), ranks("d", 4, 0.1)});
    EXPECT_EQ(base.rows[1].why_not, "the base's runs are of different work (model)");
    EXPECT_EQ(base.rows[2].why_not, base.rows[1].why_not) << "no other base takes its place";
}

TEST(Scaling, OverThreadsHasABestCount) {
    std::vector<StoredRun> runs;
    for (int i = 0; i < 6; ++i) {
        const double noise = 1 + 0.001 * i;
        for (const auto& [threads, step_s] : {std::pair{1, 0.1}, {2, 0.0625}, {4, 0.0627}})
            runs.push_back(alone(std::to_string(threads) + "-" + std::to_string(i), step_s * noise, threads));
    }
    const auto scaling = scaling_by({"threads"}, runs);
    EXPECT_EQ(scaling.over, "threads");
    EXPECT_NEAR(scaling.rows[1].speedup.ratio, 1.6, 1e-9);
    EXPECT_NEAR(scaling.rows[1].strong.efficiency.ratio, 0.8, 1e-9);
    EXPECT_THAT(scaling.best, ElementsAre(AllOf(HasSubstr("best: threads = 2, "), HasSubstr("1.60 times"))));
    EXPECT_THAT(scaling.rows[1].strong.apart, IsEmpty());
    for (auto& run : runs) run = with(std::move(run), "batch-size", run.setting("threads"));
    for (const auto& row : scaling_by({"threads"}, runs).rows) EXPECT_TRUE(std::isnan(row.speedup.ratio));
}

TEST(Scaling, OverThreadsPoolsNoRankCounts) {
    const auto scaling = scaling_by(
        {"threads"}, {alone("a", 0.2, 1), alone("b", 0.1, 2), with(ranks("c", 2, 0.3), "threads", "2")});
    EXPECT_THAT(scaling.rows[1].why_not, HasSubstr("ranks"));
    EXPECT_TRUE(std::isnan(scaling.rows[1].speedup.ratio));
}

// Six of each, so that there are intervals.
std::vector<StoredRun> six(const StoredRun& run) {
    std::vector<StoredRun> runs;
    for (int i = 0; i < 6; ++i) {
        runs.push_back(run);
        runs.back().id += std::to_string(i);
        for (auto& m : runs.back().measurements) m.summary.median *= 1 + 0.001 * i;
    }
    return runs;
}

std::vector<StoredRun> joined(std::initializer_list<std::vector<StoredRun>> parts) {
    std::vector<StoredRun> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

TEST(Scaling, TheBestSaysItsDoubtsInTheSameWordsWhereverItStands) {
    const auto best = [](std::vector<StoredRun> runs) { return scaling_by({"threads"}, runs).best; };
    const auto one = six(alone("a", 0.1, 1)), two = six(alone("b", 0.1002, 2));
    const auto the_base = [](const char* time, const char* doubt) {
        return ElementsAre(fmt::format(
            "best: threads = 1 (the base), step_time_s {} s; no other row is faster{}", time, doubt));
    };
    EXPECT_THAT(best(joined({one, two})),
                the_base("0.1003", "; threads = 2 may be as fast: their intervals overlap"));
    EXPECT_THAT(best(joined({one, six(alone("b", 0.2, 2))})), the_base("0.1003", ""));
    const std::vector<StoredRun> few{two[0], two[1]};
    EXPECT_THAT(best(joined({one, few})),
                the_base("0.1003", "; too few runs to tell how surely: threads = 2"));
    EXPECT_THAT(best({one[0], one[1], alone("b", 0.2, 2), alone("c", 0.2, 2)}),
                the_base("0.1001", "; too few runs to tell how surely"));
    EXPECT_THAT(best({one[0], one[1], alone("b", 0.1, 2), alone("c", 0.2, 2)}),
                the_base("0.1001",
                         "; too few runs to tell how surely; threads = 2 may be as fast: their runs' times "
                         "meet"));
    std::vector<StoredRun> crowded = six(on_cpus(alone("c", 0.05, 2), {"0"}));
    EXPECT_THAT(best(joined({one, crowded})),
                ElementsAre(EndsWith("2.00 times as fast as the base; oversubscribed: 2 compute threads on 1 "
                                     "CPU of a rank")));
}

// A phase of 8 steps about that time; 0: it was not stored.
StoredRun spending(StoredRun run, const std::string& phase, double time_s) {
    results::Measurement m = *run.find("step_time_s");
    m.name = phase;
    for (double& sample : m.samples) sample *= time_s / run.find("step_time_s")->summary.median;
    m.summary = stats::summarise(m.samples);
    std::erase_if(run.measurements, [&](const auto& one) { return one.name == phase; });
    if (time_s > 0) run.measurements.push_back(m);
    return run;
}

StoredRun sharing(StoredRun run, const std::string& phase, double percent) {
    run.tables.push_back({"phases",
                          {{"phase", std::vector<std::string>{phase, "other", "step"}},
                           {"percent", std::vector<double>{percent, 100 - percent, 100}}}});
    return run;
}

// The phase by which the fastest gains most on the base, in the times that --measure phases shows.
TEST(Scaling, SaysWhyTheFastestIsFaster) {
    const auto base = spending(strong(alone("a", 0.2, 1)), "backward_time_s", 0.12);
    const auto fast =
        spending(spending(strong(ranks("b", 2, 0.1)), "backward_time_s", 0.04), "sync_exposed_time_s", 0.03);
    EXPECT_THAT(
        scaling_by({"mode", "ranks"}, {base, fast}).why,
        ElementsAre("why: backward takes 0.04 s of a step of mode = ddp, ranks = 2, and 0.12 s of one "
                    "of the base"));
}

TEST(Scaling, SaysWhichPhaseTheSlowerOneAloneHas) {
    const auto base = spending(strong(alone("a", 0.1, 1)), "forward_time_s", 0.05);
    const auto slow =
        spending(spending(strong(ranks("b", 2, 0.15)), "forward_time_s", 0.05), "sync_exposed_time_s", 0.05);
    const Keys keys{"mode", "ranks"};
    EXPECT_THAT(scaling_by(keys, {base, sharing(slow, "sync", 24)}).why,
                ElementsAre("why: 24.0 % of the mean step of mode = ddp, ranks = 2 is sync, which the base "
                            "has not"));
    const auto ticks = spending(base, "sync_exposed_time_s", 8e-7);
    EXPECT_THAT(scaling_by(keys, {ticks, sharing(slow, "sync", 24)}).why,
                ElementsAre(EndsWith("which the base has not")))
        << "the clock around a phase in which nothing is done";
    EXPECT_THAT(scaling_by(keys, {base, slow}).why, ElementsAre(StartsWith("why: a part of the mean step ")))
        << "an older file does not tell the share";
}

TEST(Scaling, SaysNotWhyWhereThePhasesDoNotTell) {
    const auto why = [](const StoredRun& a, const StoredRun& b) { return scaling_by({"ranks"}, {a, b}).why; };
    const auto without = [](const StoredRun& run) { return spending(run, "forward_time_s", 0); };
    const auto base = strong(alone("a", 0.2, 1)), fast = strong(ranks("b", 2, 0.1));
    EXPECT_THAT(why(base, fast), ElementsAre(StartsWith("why: forward takes ")));
    EXPECT_THAT(why(base, without(fast)), ElementsAre(""));
    EXPECT_THAT(why(without(base), without(fast)), ElementsAre(""));
    EXPECT_THAT(why(base, strong(ranks("b", 2, 0.199))), ElementsAre("")) << "the intervals meet";
    EXPECT_THAT(why(base, spending(fast, "forward_time_s", 0.06)), ElementsAre("")) << "it takes longer";
}

// Several runs, too few for an interval: from the least to the most.
TEST(Scaling, SaysNotWhyWhereRunsOfBothMeet) {
    const auto run = [](const char* id, double step_s, double forward_s) {
        return spending(strong(alone(id, step_s, 1)), "forward_time_s", forward_s);
    };
    const auto other = [](const char* id, double forward_s) {
        return spending(strong(ranks(id, 2, 0.1)), "forward_time_s", forward_s);
    };
    const auto a = run("a", 0.2, 0.06), b = run("b", 0.21, 0.08);
    EXPECT_THAT(scaling_by({"ranks"}, {a, b, other("c", 0.03), other("d", 0.05)}).why,
                ElementsAre(StartsWith("why: forward takes 0.04 s ")));
    EXPECT_THAT(scaling_by({"ranks"}, {a, b, other("c", 0.03), other("d", 0.07)}).why, ElementsAre(""));
}

// Where each rank keeps its batch and its cores, a step that is longer says what was added.
TEST(Scaling, SaysWhyAWeakRowIsSlower) {
    const auto slow = [](const StoredRun& run) {
        return sharing(spending(spending(run, "forward_time_s", 0.025), "sync_exposed_time_s", 0.06), "sync",
                       30);
    };
    const auto scaling = scaling_by({"ranks"}, {alone("a", 0.1, 1), slow(ranks("b", 2, 0.16))});
    EXPECT_THAT(scaling.best,
                ElementsAre(HasSubstr("efficiency/CPU 0.625, 1.25 times the base's work in the same time")));
    EXPECT_THAT(scaling.why,
                ElementsAre("why: 30.0 % of the mean step of ranks = 2 is sync, which the base has not"));
    EXPECT_THAT(scaling_by({"ranks"}, {alone("a", 0.1, 2), slow(ranks("b", 2, 0.16))}).why, ElementsAre(""))
        << "half the cores a rank";
}

// Replicas are a way to work together: no other work than the base's.
TEST(Scaling, ReplicasBesideASingleDeviceHaveASpeedupPerCore) {
    StoredRun dp = with(with(alone("b", 0.125, 2), "mode", "dp"), "replicas", "2");
    const auto scaling = scaling_by({"mode", "ranks"}, {alone("a", 0.2, 1), dp});
    ASSERT_THAT(scaling.rows, SizeIs(2));
    const ScalingRow& row = scaling.rows[0];  // dp
    EXPECT_EQ(row.why_not, "");
    EXPECT_NEAR(row.speedup.ratio, 1.6, 1e-9);
    EXPECT_NEAR(row.strong.efficiency.ratio, 0.8, 1e-9);
    EXPECT_TRUE(scaling.rows[1].is_base());
    const auto other =
        scaling_by({"mode", "ranks"},
                   {alone("a", 0.2, 1), with(with(dp, "global-batch-size", "64"), "batch-size", "64")});
    EXPECT_THAT(other.rows[0].why_not, HasSubstr("just one of batch-size"));
    StoredRun three = with(dp, "replicas", "3");
    three.id = "c";
    EXPECT_EQ(scaling_by({"mode", "ranks"}, {alone("a", 0.2, 1), dp, three}).rows[0].why_not,
              "its runs are of different work (replicas)");
}

// Ranks that share nothing are faster than those that train together, and no answer.
TEST(Scaling, RanksThatSumNoGradientsAreNeverTheBest) {
    const auto none = [](StoredRun run) { return with(std::move(run), "sync", "none"); };
    const auto scaling = scaling_by(
        {"ranks", "sync"},
        {strong(alone("a", 0.2, 1)), strong(ranks("b", 2, 0.15)), none(strong(ranks("c", 2, 0.1)))});
    EXPECT_THAT(scaling.best, ElementsAre(StartsWith("best: ranks = 2, sync = flat, ")));
    EXPECT_NEAR(scaling.rows[2].speedup.ratio, 2, 1e-9);
    const auto weak = scaling_by({"ranks", "sync"},
                                 {alone("a", 0.1, 1), none(ranks("b", 2, 0.1)), none(ranks("c", 4, 0.1))});
    EXPECT_THAT(weak.best, IsEmpty());
    RunGroups pooled({"ranks"}, {});
    pooled.add(ranks("b", 2, 0.1));
    pooled.add(none(ranks("c", 2, 0.1)));
    pooled.add(none(ranks("d", 1, 0.1)));
    ASSERT_THAT(pooled.sorted(), SizeIs(2));
    EXPECT_EQ(pooled.sorted()[0].unsummed, 0U) << "one rank has nothing to sum";
    EXPECT_EQ(pooled.sorted()[1].unsummed, 1U);
}

TEST(Scaling, TheWidestWeakRowOfEachSeriesIsSaid) {
    const auto sync = [](StoredRun run, const char* value) { return with(std::move(run), "sync", value); };
    const auto scaling =
        scaling_by({"ranks", "sync"}, {alone("a", 0.1, 1), sync(ranks("b", 2, 0.125), "bucketed"),
                                       sync(ranks("c", 4, 0.2), "bucketed"), sync(ranks("d", 2, 0.4), "flat"),
                                       sync(on_cpus(step_run("e", 4, 0.4), {""}), "ring")});
    EXPECT_THAT(
        scaling.best,
        ElementsAre(StartsWith("weak scaling: ranks = 4, sync = bucketed has efficiency/CPU 0.500"),
                    StartsWith("weak scaling: ranks = 2, sync = flat has efficiency/CPU 0.250"),
                    "weak scaling: ranks = 4, sync = ring has no efficiency: the CPUs of its ranks are "
                    "not stored"));
}

// 4 ranks of 8: of a rank's work that of 2 ranks, of all ranks' work that of one.
TEST(Scaling, WeakAndStrongClaimsOfARowKeepTheirOwn) {
    StoredRun unlike = with(with(alone("a", 0.1, 2), "batch-size", "32"), "global-batch-size", "32");
    StoredRun like = with(with(ranks("b", 2, 0.1), "batch-size", "8"), "global-batch-size", "16");
    StoredRun row = with(with(ranks("c", 4, 0.1), "batch-size", "8"), "global-batch-size", "32");
    const auto scaling = scaling_by({"ranks", "batch-size"}, {unlike, like, row});
    ASSERT_THAT(scaling.rows, SizeIs(3));
    const ScalingRow& both = scaling.rows[2];
    ASSERT_TRUE(both.weak.work == 2 && both.strong.work == 1);
    EXPECT_THAT(both.strong.apart, ElementsAre("threads 1 (base 2)"));
    EXPECT_THAT(both.weak.apart, IsEmpty());
}

TEST(RunGroups, ReadingsFromElsewhereAndOtherFsyncAreNeverPooled) {
    const auto io = [](const std::string& cache, const std::string& fsync) {
        auto run = rung_run("binary", 1, 1, {0.5, {0.4, 0.6}});
        run.context.push_back({"storage", "cache", cache});
        run.config.push_back({"fsync", fsync});
        return run;
    };
    const auto sizes = [&](const Keys& allow) {
        RunGroups groups({"ranks"}, {}, allow);
        for (const auto& run : {io("cold", "true"), io("warm 99 %", "true"), io("warm 100 %", "true"),
                                io("warm 100 %", "false"), io("mixed 40 %", "false")})
            groups.add(run);
        groups.check_allowed();
        std::vector<std::size_t> all;
        for (const auto& group : groups.sorted()) all.push_back(group.runs.size());
        return std::pair(all, groups.apart());
    };
    EXPECT_THAT(sizes({}), Pair(ElementsAre(1, 1, 1, 2), ElementsAre("cache", "fsync")));
    EXPECT_THAT(sizes({"cache"}), Pair(ElementsAre(2, 3), ElementsAre("fsync")));
    EXPECT_THAT(sizes({"cache", "fsync"}), Pair(ElementsAre(5), IsEmpty()));
}

TEST(Series, OverThreadsAreOfOneWorkAndRankCount) {
    GroupedRuns grouped;
    for (auto run : {with(alone("a", 0.2, 1), "progress", "thread"),
                     with(alone("b", 0.1, 2), "progress", "none"), with(ranks("c", 2, 0.3), "threads", "2"),
                     with(ranks("d", 2, 0.2), "threads", "4"), with(alone("e", 0.1, 4), "lr", "9")})
        grouped.add(std::move(run));
    const auto all = thread_series(grouped);
    ASSERT_EQ(all.size(), 2U);
    for (const auto& series : all) EXPECT_EQ(series.points.size(), 2U) << series.title;
    EXPECT_EQ(all[0].over, "thread");
}

TEST(StepParts, AddUpWithWhatLiesBetweenThePhases) {
    StoredRun run = step_run("a", 1, 0.1);
    run.tables = {{"phases",
                   {{"phase", std::vector<std::string>{"forward", "sync", "other", "step"}},
                    {"per_hit_s", std::vector<double>{0.03, 0.05, 0.02, 0.1}},
                    {"percent", std::vector<double>{30, 50, 20, 100}}}}};
    double sum = 0;
    for (const auto& part : step_parts(run)) sum += part.percent;
    EXPECT_DOUBLE_EQ(sum, 100);
    EXPECT_DOUBLE_EQ(share_of_step(run, "sync_exposed_time_s"), 50);
    EXPECT_TRUE(std::isnan(share_of_step(run, "step_time_s")));
    run.tables.clear();
    EXPECT_TRUE(std::isnan(share_of_step(run, "forward_time_s"))) << "an older file";
}

TEST(Estimate, IsTheMedianOverRunsAtAnyNumberOfThem) {
    RunGroup group;
    std::vector<double> all;
    for (const double value : {3.0, 1.0, 2.0, 7.0, 5.0, 4.0, 6.0}) {
        StoredRun run = step_run("a", 1, value);
        all.push_back(value);
        group.add_value(run.measurements[0]);
        const Estimate found = estimate(group, "step_time_s");
        EXPECT_NEAR(found.value, stats::quantile(all, 0.5), 1e-9);
        EXPECT_EQ(found.runs, all.size());
        EXPECT_EQ(std::isnan(found.ci.low), all.size() > 1 && all.size() < kRunsForInterval) << all.size();
    }
}

}  // namespace
}  // namespace ranklab::report::model
