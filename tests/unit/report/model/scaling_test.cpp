#include "report/model/scaling.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/model/cores.hpp"
#include "report/model/series.hpp"
#include "report/model/step_parts.hpp"
#include "unit/report/io_runs_sample.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::model {
namespace {

using results::StoredRun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

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

StoredRun with_threads(StoredRun run, const std::vector<int>& threads) {
    for (std::size_t i = 0; i < run.hosts.size(); ++i) run.hosts[i].threads = threads[i];
    return run;
}

StoredRun on_cores(StoredRun run, const std::string& cores) {
    for (auto& row : run.hosts) row.cores = cores;
    return run;
}

StoredRun on_gpus(StoredRun run, const std::vector<std::string>& gpus) {
    for (std::size_t i = 0; i < run.hosts.size(); ++i) run.hosts[i].device = "NVIDIA H100" + gpus[i];
    return with(run, "device", "cuda");
}

StoredRun in_quota(StoredRun run, const std::string& quota) {
    run.context.push_back({"host", "cpu_quota", quota});
    return run;
}

// The compute threads of all ranks, but no more than the CPUs of each set of ranks that share some: what one
// set has to spare is no help to the others.
TEST(Cores, AreThoseThatTheRanksCouldUse) {
    StoredRun two_hosts = on_cpus(step_run("a", 2, 1), {"0"}), dp = with(alone("a", 1, 1), "replicas", "4");
    two_hosts.hosts[1].host = "node02";
    const auto wide = [](const char* threads) {
        return with(on_cpus(step_run("a", 1, 1), {"0-7"}), "threads", threads);
    };
    for (const auto& [run, count, unit, crowded] :
         std::vector<std::tuple<StoredRun, std::size_t, std::string, std::string>>{
             {alone("a", 1, 2), 2, "CPU", ""},
             {ranks("a", 2, 1), 2, "CPU", ""},
             {on_cpus(step_run("a", 3, 1), {"0-1"}), 2, "CPU", "3 compute threads on 2 CPUs"},
             {with(ranks("a", 2, 1), "threads", "4"), 2, "CPU", "4 compute threads on 1 CPU of a rank"},
             {two_hosts, 2, "CPU", ""},  // CPU 0 of each
             {with(on_cpus(step_run("a", 2, 1), {"0", "1-7"}), "threads", "4"), 5, "CPU",
              "4 compute threads on 1 CPU of a rank"},
             {with(on_cpus(step_run("a", 3, 1), {"0-1", "0-1", "2-5"}), "threads", "2"), 4, "CPU",
              "4 compute threads on 2 CPUs"},
             {on_cores(wide("8"), "0-3"), 4, "core", "8 compute threads on 4 cores of a rank"},
             {on_cores(on_cpus(step_run("b", 2, 1), {"0", "8"}), "0"), 1, "core",
              "2 compute threads on 1 core"},
             {with_threads(on_cpus(step_run("a", 2, 1), {"0-3", "4-7"}), {1, 2}), 3, "CPU", ""},
             {in_quota(wide("8"), "2.5"), 3, "CPU", "threads on 8 CPUs where the cgroup allows 2.5 of them"},
             {in_quota(wide("2"), "2.5"), 2, "CPU", ""},
             {in_quota(wide("8"), "none"), 8, "CPU", ""},
             {with(alone("a", 1, 5), "replicas", "2"), 4, "CPU", ""},  // 2 threads each
             {on_gpus(step_run("a", 2, 1), {" [GPU-1]", " [GPU-2]"}), 2, "GPU", ""},
             {on_gpus(step_run("a", 2, 1), {" [GPU-1]", " [GPU-1]"}), 1, "GPU", "2 ranks on 1 GPU"},
             {on_gpus(dp, {" [GPU-1]"}), 4, "GPU", ""}}) {  // the row of the one rank names the first
        EXPECT_EQ(cores_of(run).count, count) << crowded;
        EXPECT_EQ(cores_of(run).unit(), unit);
        EXPECT_EQ(cores_of(run).crowded, crowded);
    }
    EXPECT_FALSE(cores_of(on_gpus(step_run("a", 2, 1), {" [GPU-1]", ""})).known());
    EXPECT_EQ(threads_text(with_threads(step_run("a", 2, 1), {1, 2})), "1 or 2");
}

TEST(Cores, AreUnknownWhereTheFileDoesNotSayOrItsRunsDiffer) {
    for (const char* cpus : {"", "unknown", "3-1", "0-", "-", "0-1-2", "99999999999999999999"})
        EXPECT_THAT(cores_of(on_cpus(step_run("a", 1, 1), {cpus})).why_not, HasSubstr("CPUs")) << cpus;
    StoredRun run = step_run("a", 1, 1);
    std::erase_if(run.config, [](const auto& one) { return one.key == "threads"; });
    EXPECT_THAT(cores_of(run).why_not, HasSubstr("threads"));
    CoresOfRuns all;
    all.add({.count = 2});
    EXPECT_EQ(all.common().count, 2U);
    all.add({.count = 4, .crowded = "5 compute threads on 4 CPUs"});
    EXPECT_EQ(all.common().why_not, "its runs used 2 cores and 4 cores");
    EXPECT_EQ(all.oversubscribed(), "1 of 2 runs: 5 compute threads on 4 CPUs");
}

// What a table of these groups says, whole.
std::string said(const Keys& keys, const std::vector<StoredRun>& runs) {
    const auto scaling = scaling_by(keys, runs);
    std::string text = fmt::format("over {} per {}\n", scaling.over, scaling.unit);
    for (const auto& row : scaling.rows)
        text += fmt::format("speedup {:.4g}; strong {:.4g} {}{}[{}]; weak {:.4g} {}{}[{}]; {}\n",
                            row.speedup.ratio, row.strong.efficiency.ratio, row.strong.is_base ? "base " : "",
                            row.strong.why_no_efficiency, fmt::join(row.strong.apart, ", "),
                            row.weak.efficiency.ratio, row.weak.is_base ? "base " : "",
                            row.weak.why_no_efficiency, fmt::join(row.weak.apart, ", "), row.why_not);
    return text + lines_of(scaling.bases) + lines_of(scaling.best) + lines_of(scaling.why) +
           lines_of(scaling.notes);
}

// 2 threads alone against 2 x 1 are the same 2 cores.
TEST(Scaling, CostsCoresNotRanks) {
    const auto scaling = scaling_by({"ranks"}, {strong(alone("a", 0.2, 2)), strong(ranks("b", 2, 0.1))});
    ASSERT_EQ(scaling.rows.size(), 2U);
    EXPECT_NEAR(scaling.rows[1].speedup.ratio, 2, 1e-9);
    EXPECT_NEAR(scaling.rows[1].strong.efficiency.ratio, 2, 1e-9);
    EXPECT_THAT(scaling.rows[1].strong.apart, ElementsAre("threads 1 (base 2)"));
    const auto weak = scaling_by({"ranks"}, {alone("a", 0.1, 2), ranks("b", 2, 0.1)});
    EXPECT_NEAR(weak.rows[1].weak.efficiency.ratio, 2, 1e-9) << "twice the work on the same 2 cores";
    EXPECT_TRUE(std::isnan(weak.rows[1].speedup.ratio)) << "a step of another batch";
    const auto even = scaling_by({"ranks"}, {alone("a", 0.1, 1), ranks("b", 2, 0.125)});
    EXPECT_NEAR(even.rows[1].weak.efficiency.ratio, 0.8, 1e-9);
}

// Rows of 2 and of 4 ranks, of either kind, have the one base at 1.
TEST(Scaling, TheFirstPointIsWeakAndStrongAtOnce) {
    const auto scaling = scaling_by({"ranks", "batch-size"},
                                    {alone("a", 0.1, 1), ranks("b", 2, 0.125), strong(ranks("c", 2, 0.0625)),
                                     ranks("d", 4, 0.2), strong(ranks("e", 4, 0.05))});
    ASSERT_EQ(scaling.rows.size(), 5U);
    EXPECT_TRUE(scaling.rows[0].weak.is_base && scaling.rows[0].strong.is_base);
    EXPECT_NEAR(scaling.rows[1].strong.efficiency.ratio, 0.8, 1e-9);  // 2 ranks of 16
    EXPECT_NEAR(scaling.rows[2].weak.efficiency.ratio, 0.8, 1e-9);    // 2 of 32
    EXPECT_NEAR(scaling.rows[3].strong.efficiency.ratio, 0.5, 1e-9);  // 4 of 8
    EXPECT_NEAR(scaling.rows[4].weak.efficiency.ratio, 0.5, 1e-9);    // 4 of 32
}

// Runs that are told apart by their ids, six so that there are intervals.
std::vector<StoredRun> times(int count, const StoredRun& run) {
    std::vector<StoredRun> runs;
    for (int i = 0; i < count; ++i) {
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

StoredRun sync(StoredRun run, const char* value) {
    return with(std::move(run), "sync", value);
}

TEST(Scaling, SaysWhatIsTheBaseTheBestAndWhatIsNotClaimed) {
    Outputs all;
    const auto base = strong(alone("a", 0.2, 1));
    const auto slow = sync(step_run("a", 2, 0.2), "flat"), fast = sync(step_run("b", 2, 0.1), "bucketed");
    const auto of_32 = [](const StoredRun& run) { return with(run, "global-batch-size", "32"); };
    all.add("ways to do the same work", said({"sync"}, {slow, fast}));
    all.add("on other ranks", said({"sync"}, {of_32(slow), of_32(sync(step_run("c", 4, 0.1), "bucketed"))}));
    all.add("of another batch", said({"sync"}, {slow, with(fast, "global-batch-size", "7")}));
    all.add("of another model", said({"model"}, {slow, with(fast, "model", "resnet18")}));
    all.add("unknown CPUs: no efficiency",
            said({"ranks"}, {base, strong(on_cpus(step_run("b", 2, 0.1), {""}))}));
    all.add("pooled work", said({"ranks"}, {alone("a", 0.1, 1), ranks("b", 2, 0.1),
                                            with(ranks("c", 2, 0.05), "batch-size", "8")}));
    all.add("other work", said({"ranks"}, {alone("a", 0.1, 1), with(ranks("b", 2, 1), "model", "unet3d")}));
    all.add("a base of different work",
            said({"ranks"}, {alone("a", 0.1, 1), with(alone("x", 3, 1), "model", "unet3d"),
                             ranks("b", 2, 0.1), ranks("d", 4, 0.1)}));
    all.add("threads of another rank count", said({"threads"}, {alone("a", 0.2, 1), alone("b", 0.1, 2),
                                                                with(ranks("c", 2, 0.3), "threads", "2")}));
    all.add("threads: 2 are best, 1.6 times as fast",
            said({"threads"}, joined({times(6, alone("a", 0.1, 1)), times(6, alone("b", 0.0625, 2)),
                                      times(6, alone("c", 0.0627, 4))})));
    all.add("threads of other batches", said({"threads"}, {with(alone("a", 0.1, 1), "batch-size", "1"),
                                                           with(alone("b", 0.1, 2), "batch-size", "2")}));
    const auto one = times(6, alone("a", 0.1, 1)), two = times(6, alone("b", 0.1002, 2));
    all.add("doubt: the intervals overlap", said({"threads"}, joined({one, two})));
    all.add("no doubt", said({"threads"}, joined({one, times(6, alone("b", 0.2, 2))})));
    all.add("doubt: too few of the other", said({"threads"}, joined({one, {two[0], two[1]}})));
    all.add("doubt: too few runs",
            said({"threads"}, {one[0], one[1], alone("b", 0.2, 2), alone("c", 0.2, 2)}));
    all.add("doubt: the runs' times meet",
            said({"threads"}, {one[0], one[1], alone("b", 0.1, 2), alone("c", 0.2, 2)}));
    all.add("doubt: oversubscribed",
            said({"threads"}, joined({one, times(6, on_cpus(alone("c", 0.05, 2), {"0"}))})));
    const StoredRun dp = with(with(alone("b", 0.125, 2), "mode", "dp"), "replicas", "2");
    all.add("replicas: 1.6 times, 0.8 per core", said({"mode", "ranks"}, {alone("a", 0.2, 1), dp}));
    all.add("replicas of another batch",
            said({"mode", "ranks"},
                 {alone("a", 0.2, 1), with(with(dp, "global-batch-size", "64"), "batch-size", "64")}));
    all.add(
        "2 and 3 replicas in one",
        said({"mode", "ranks"}, joined({{alone("a", 0.2, 1)}, {dp}, times(1, with(dp, "replicas", "3"))})));
    all.add("ranks that sum nothing are not the best",
            said({"ranks", "sync"},
                 {base, strong(ranks("b", 2, 0.15)), sync(strong(ranks("c", 2, 0.1)), "none")}));
    all.add("the widest weak row of each series",
            said({"ranks", "sync"},
                 {alone("a", 0.1, 1), sync(ranks("b", 2, 0.125), "bucketed"),
                  sync(ranks("c", 4, 0.2), "bucketed"), sync(ranks("d", 2, 0.4), "flat"),
                  sync(on_cpus(step_run("e", 4, 0.4), {""}), "ring"), sync(ranks("f", 4, 0.1), "none")}));
    // 4 ranks of 8: of a rank's work that of 2 ranks, of all ranks' work that of one.
    all.add("weak and strong bases of a row",
            said({"ranks", "batch-size"},
                 {of_32(with(alone("a", 0.1, 2), "batch-size", "32")),
                  with(with(ranks("b", 2, 0.1), "batch-size", "8"), "global-batch-size", "16"),
                  of_32(with(ranks("c", 4, 0.1), "batch-size", "8"))}));
    all.expect("scaling.txt");
}

// The phase by which the fastest gains most on the base, in the times that --measure phases shows.
TEST(Scaling, SaysWhyTheFastestIsFasterWhereThePhasesTell) {
    Outputs all;
    const auto why = [&](const std::string& name, const std::vector<StoredRun>& runs) {
        all.add(name, lines_of(scaling_by({"mode", "ranks"}, runs).why));
    };
    const auto base = spending(strong(alone("a", 0.2, 1)), "backward_time_s", 0.12);
    const auto fast = strong(ranks("b", 2, 0.1));
    why("backward is shorter",
        {base, spending(spending(fast, "backward_time_s", 0.04), "sync_exposed_time_s", 0.03)});
    const auto quick = spending(strong(alone("a", 0.1, 1)), "forward_time_s", 0.05);
    const auto slow =
        spending(spending(strong(ranks("b", 2, 0.15)), "forward_time_s", 0.05), "sync_exposed_time_s", 0.05);
    why("the slower one alone has sync", {quick, sharing(slow, "sync", 24)});
    why("the base's clock around sync",
        {spending(quick, "sync_exposed_time_s", 8e-7), sharing(slow, "sync", 24)});
    why("an older file without shares", {quick, slow});
    const auto without = [](const StoredRun& run) { return spending(run, "forward_time_s", 0); };
    const auto plain = strong(alone("a", 0.2, 1));
    why("forward is shorter", {plain, fast});
    why("one has no phases", {plain, without(fast)});
    why("none has", {without(plain), without(fast)});
    why("the intervals meet", {plain, strong(ranks("b", 2, 0.199))});
    why("forward takes longer", {plain, spending(fast, "forward_time_s", 0.06)});
    // Several runs, too few for an interval: from the least to the most.
    const auto of = [](StoredRun run, const char* id, double forward_s) {
        run.id = id;
        return spending(run, "forward_time_s", forward_s);
    };
    why("runs that do not meet",
        {of(plain, "a", 0.06), of(plain, "b", 0.08), of(fast, "c", 0.03), of(fast, "d", 0.05)});
    why("runs that meet",
        {of(plain, "a", 0.06), of(plain, "b", 0.08), of(fast, "c", 0.03), of(fast, "d", 0.07)});
    // Where each rank keeps its batch and its cores, a step that is longer says what was added.
    const auto weak =
        sharing(spending(spending(ranks("b", 2, 0.16), "forward_time_s", 0.025), "sync_exposed_time_s", 0.06),
                "sync", 30);
    why("a weak row is slower", {alone("a", 0.1, 1), weak});
    why("half the cores a rank", {alone("a", 0.1, 2), weak});
    all.expect("scaling_why.txt");
}

TEST(Scaling, OfRanksThatSumNoGradientsIsCounted) {
    RunGroups pooled({"ranks"}, {});
    pooled.add(ranks("b", 2, 0.1));
    pooled.add(sync(ranks("c", 2, 0.1), "none"));
    pooled.add(sync(ranks("d", 1, 0.1), "none"));
    ASSERT_THAT(pooled.sorted(), SizeIs(2));
    EXPECT_EQ(pooled.sorted()[0].unsummed, 0U) << "one rank has nothing to sum";
    EXPECT_EQ(pooled.sorted()[1].unsummed, 1U);
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
