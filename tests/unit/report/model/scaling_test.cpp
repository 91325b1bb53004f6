#include "report/model/scaling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/model/cores.hpp"
#include "report/model/series.hpp"
#include "report/model/step_parts.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::model {
namespace {

using results::StoredRun;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
    return scaling_of(groups.sorted(), groups.keys(), stored.file());
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
    EXPECT_TRUE(cores_of(run).gpus);
    run.hosts[1].device = run.hosts[0].device;
    EXPECT_EQ(cores_of(run).crowded, "2 ranks on 1 GPU");
    run.hosts[1].device = "NVIDIA H100";
    EXPECT_FALSE(cores_of(run).known());
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
    EXPECT_EQ(scaling.unit, "core");
    EXPECT_NEAR(scaling.rows[1].speedup.ratio, 2, 1e-9);
    EXPECT_NEAR(scaling.rows[1].strong.efficiency.ratio, 2, 1e-9);
    EXPECT_THAT(scaling.rows[1].apart, ElementsAre("threads 1 (base 2)"));
    EXPECT_THAT(scaling.bases, ElementsAre(HasSubstr("2 cores")));
}

TEST(Scaling, OfWorkThatGrowsWithTheRanksIsPerCoreToo) {
    const auto scaling = scaling_by({"ranks"}, {alone("a", 0.1, 2), ranks("b", 2, 0.1)});
    EXPECT_NEAR(scaling.rows[1].weak.efficiency.ratio, 2, 1e-9) << "twice the work on the same 2 cores";
    EXPECT_TRUE(std::isnan(scaling.rows[1].speedup.ratio)) << "a step of another batch";
    const auto even = scaling_by({"ranks"}, {alone("a", 0.1, 1), ranks("b", 2, 0.125)});
    EXPECT_NEAR(even.rows[1].weak.efficiency.ratio, 0.8, 1e-9);
    EXPECT_THAT(even.rows[1].apart, IsEmpty());
}

TEST(Scaling, HasNoEfficiencyWhereCoresAreUnknown) {
    const auto scaling =
        scaling_by({"ranks"}, {strong(alone("a", 0.2, 1)), strong(on_cpus(step_run("b", 2, 0.1), {""}))});
    EXPECT_NEAR(scaling.rows[1].speedup.ratio, 2, 1e-9);
    EXPECT_TRUE(std::isnan(scaling.rows[1].strong.efficiency.ratio));
    EXPECT_EQ(scaling.rows[1].why_no_efficiency, "the CPUs of its ranks are not stored");
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
    EXPECT_THAT(scaling.rows[1].apart, IsEmpty());
    for (auto& run : runs) run = with(std::move(run), "batch-size", run.setting("threads"));
    for (const auto& row : scaling_by({"threads"}, runs).rows) EXPECT_TRUE(std::isnan(row.speedup.ratio));
}

TEST(Scaling, OverThreadsPoolsNoRankCounts) {
    const auto scaling = scaling_by(
        {"threads"}, {alone("a", 0.2, 1), alone("b", 0.1, 2), with(ranks("c", 2, 0.3), "threads", "2")});
    EXPECT_THAT(scaling.rows[1].why_not, HasSubstr("ranks"));
    EXPECT_TRUE(std::isnan(scaling.rows[1].speedup.ratio));
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
