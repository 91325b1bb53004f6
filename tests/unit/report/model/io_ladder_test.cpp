// Ladders of strategies, their series over ranks and workers, and where their files lay.
#include "report/model/io_ladder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/model/ladder_advice.hpp"
#include "report/model/scaling.hpp"
#include "report/model/series.hpp"
#include "report/model/storage_place.hpp"
#include "unit/report/io_runs_sample.hpp"
#include "unit/report/outputs.hpp"

namespace ranklab::report::model {
namespace {

using testing::ElementsAre;

/// The series of runs, and the groups that they point into.
struct Made {
    explicit Made(const std::vector<results::Run>& runs) {
        for (auto run : runs) grouped.add(std::move(run));
        all = writing_series(grouped);
    }
    double speedup(std::size_t series, std::size_t point) const {
        Ratios ratios([](const std::string&) { return results::Run{}; });
        const auto& points = all[series].points;
        return ratios.of("job_time_s", *points[0].group, *points[point].group).speedup().ratio;
    }

    GroupedRuns grouped;
    std::vector<Series> all;
};

results::Run with_samples(const std::string& id, double first) {
    results::Run run;
    run.id = id;
    results::Measurement time{"job_time_s", "s", results::Kind::cost, "max", "repetition", 1, {}, {}, {}};
    for (int i = 0; i < 7; ++i) time.samples.push_back(first + 0.1 * i);
    run.measurements = {time};
    return run;
}

RunGroup group_of(const std::string& newest, std::vector<double> medians) {
    RunGroup group;
    group.runs.assign(medians.size(), newest);
    group.values["job_time_s"] = {"s", std::move(medians), {}};
    return group;
}

TEST(Ratios, OfTwoSingleRunsAreOfTheirRepetitions) {
    int reads = 0;
    Ratios ratios([&](const std::string& id) {
        ++reads;
        return with_samples(id, id == "base" ? 7.7 : 3.7);
    });
    for (int i = 0; i < 2; ++i) {
        const auto both = ratios.of("job_time_s", group_of("base", {9}), group_of("new", {5}));
        EXPECT_TRUE(both.within_runs);
        EXPECT_DOUBLE_EQ(both.speedup().ratio, 2);
        EXPECT_LT(both.speedup().ci.low, 2);
        EXPECT_GT(both.speedup().ci.high, 2);
        EXPECT_DOUBLE_EQ(both.efficiency(1, {.count = 1}, {.count = 4}).ratio, 0.5);
    }
    EXPECT_EQ(reads, 2) << "each run once";
}

TEST(Ratios, OfSeveralRunsAreOfTheRuns) {
    Ratios ratios([&](const std::string& id) {
        ADD_FAILURE() << "nobody needs the samples of " << id;
        return results::Run{};
    });
    const auto many = ratios.of("job_time_s", group_of("base", {7.8, 7.9, 8, 8.1, 8.2, 8}),
                                group_of("new", {4, 4, 4, 4, 4, 4}));
    EXPECT_FALSE(many.within_runs);
    EXPECT_DOUBLE_EQ(many.speedup().ratio, 2);
    EXPECT_GT(many.speedup().ci.low, 1.9);
    const auto few = ratios.of("job_time_s", group_of("base", {8}), group_of("new", {3, 4, 5})).speedup();
    EXPECT_DOUBLE_EQ(few.ratio, 2);
    EXPECT_TRUE(std::isnan(few.ci.low)) << "what three runs have in common is no interval";
}

TEST(LadderRows, AreReadWhetherNumbersAreWholeOrNot) {
    auto run = sample_ladder();
    run.tables[0].columns[1].values = std::vector<double>(10, 2.0);  // ranks
    const auto rows = ladder_rows(run.tables[0]);
    ASSERT_EQ(rows.size(), 10U);
    EXPECT_EQ(rows[0].rung, "text-loop");
    EXPECT_EQ(rows[0].ranks, 2);
    EXPECT_EQ(rows[0].n, 7);
    EXPECT_EQ(rows[1].time.median_s, 1.4);
    EXPECT_EQ(rows[1].time.s.high, 1.5);
    EXPECT_TRUE(std::isnan(rows[3].time.s.low));
    EXPECT_EQ(rows[1].over_previous, 4.8 / 1.4);
    EXPECT_EQ(rows[9].percent_of_ceiling, 91.25);
    EXPECT_NE(rows[9].mark.find("fell back"), std::string::npos);
}

TEST(LadderRows, AShareAbove105PerCentIsNeverShownAsACeilingThatBinds) {
    auto run = sample_ladder();
    auto& percent = std::get<std::vector<double>>(run.tables[0].columns[12].values);
    auto& ceiling = std::get<std::vector<std::string>>(run.tables[0].columns[11].values);
    percent[2] = 190.9;  // as older versions stored it
    percent[3] = 190.9;
    ceiling[3] = "raw write() (does not bind)";
    percent[4] = 105;
    const auto rows = ladder_rows(run.tables[0]);
    EXPECT_EQ(rows[2].ceiling, "write (does not bind)");
    EXPECT_EQ(rows[3].ceiling, "raw write() (does not bind)") << "once";
    EXPECT_EQ(rows[4].ceiling, "write");
}

TEST(LadderLabels, NameRanksAndWorkersWhereTheyAreManyOrDiffer) {
    auto rows = ladder_rows(sample_ladder().tables[0]);
    for (auto& row : rows) row.ranks = 1;
    EXPECT_EQ(ladder_labels(rows)[5], "mpi-send");
    rows[5].ranks = 2;
    EXPECT_EQ(ladder_labels(rows)[5], "mpi-send, 2 ranks");
    rows[6].rung = "mpi-send";
    EXPECT_EQ(ladder_labels(rows)[6], "mpi-send, 1 rank");
    rows[3].workers = 3;
    EXPECT_EQ(ladder_labels(rows)[3], "process-pool, 3 workers");
}

TEST(RanksOf, AreThoseThatTookPart) {
    auto run = rung_run("mpi-send", 3, 1, {1, {}});
    EXPECT_EQ(ranks_of(run), 3);  // of four that the job had
    run.measurements[0].columns = 2;
    run.measurements[0].samples = {1, 1};
    EXPECT_EQ(ranks_of(run), 2);
    EXPECT_EQ(workers_of(run), 0);
    EXPECT_EQ(workers_of(rung_run("process-pool", 1, 3, {1, {}})), 3);
}

std::string text_of(const Ladder& ladder) {
    std::string text = ladder.title + '\n';
    for (const auto& row : ladder.rows)
        text += fmt::format("  {}: {:.6g} s, speedup {:.6g}, over the one before {:.6g}, {}; {}\n", row.rung,
                            row.time.median_s, row.speedup, row.over_previous, row.verified, row.mark);
    return text;
}

results::Run on_cpu(results::Run run, const char* cpu) {
    run.context.push_back({"host", "cpu", cpu});
    return run;
}

results::Run in_environment(results::Run run, const char* name, const char* value) {
    run.context.push_back({"environment", name, value});
    return run;
}

results::Run with_setting(results::Run run, const std::string& key, const std::string& value) {
    std::erase_if(run.config, [&](const auto& one) { return one.key == key; });
    run.config.push_back({key, value, true});
    return run;
}

// Without a table: the newest run of each rung that has the newest run's records, on its machine.
TEST(NewestLadder, IsTheLastTableOrTheRunsThemselves) {
    Outputs all;
    auto invalid = rung_run("binary", 1, 1, {4, {}}), train = invalid;
    invalid.valid = false;
    invalid.warnings = {"3 values are wrong"};
    train.command = "train";
    all.add("the newer of two tables",
            text_of(newest_ladder({with_setting(sample_ladder(), "files", "7"), sample_ladder()})));
    all.add(
        "runs of two rungs",
        text_of(newest_ladder({rung_run("text-loop", 1, 1, {8, {6, 10}}), rung_run("binary", 1, 1, {4, {}}),
                               with_setting(rung_run("binary", 1, 1, {9, {}}), "files", "7"),
                               rung_run("binary", 1, 1, {2, {1, 4}})})));
    all.add("an invalid run", text_of(newest_ladder({invalid})));
    all.add("two machines", text_of(newest_ladder({on_cpu(rung_run("text-loop", 1, 1, {8, {}}), "Old"),
                                                   on_cpu(rung_run("binary", 1, 1, {4, {}}), "New")})));
    all.add("another environment by mpirun",
            text_of(newest_ladder(
                {rung_run("binary", 1, 1, {2, {}}),
                 in_environment(rung_run("mpi-send", 2, 1, {4, {}}), "OMPI_MCA_pml", "^cm,ucx")})));
    all.expect("newest_ladder.txt");
    EXPECT_TRUE(newest_ladder({train, results::Run{}}).rows.empty());
}

// Over ranks for MPI and over workers for processes, where rank 0 alone has these; of one machine, whose
// environment holds what mpirun and MPI's start leave there; runs that are alike are pooled.
TEST(WritingSeries, AreAsStored) {
    Outputs all;
    const auto add = [&](const std::string& name, const std::vector<results::Run>& runs) {
        const Made made(runs);
        std::string text;
        for (std::size_t i = 0; i < made.all.size(); ++i) {
            text += made.all[i].title + ":";
            for (std::size_t point = 0; point < made.all[i].points.size(); ++point)
                text += fmt::format(" {} {}s: {:.6g} x;", made.all[i].points[point].width, made.all[i].over,
                                    made.speedup(i, point));
            text += '\n';
        }
        all.add(name, text);
    };
    const auto one = rung_run("mpi-send", 1, 1, {8, {6, 10}}), two = rung_run("mpi-send", 2, 1, {4, {3, 5}});
    add("ranks and workers",
        {two, one, rung_run("process-queue", 1, 1, {6, {}}), rung_run("process-queue", 2, 2, {3, {}}),
         rung_run("binary", 1, 1, {1, {}}), rung_run("binary", 2, 1, {1, {}})});
    add("two machines of one point each: none", {on_cpu(one, "Old"), on_cpu(two, "New")});
    add("two machines",
        {on_cpu(one, "Old"), on_cpu(two, "Old"), on_cpu(rung_run("mpi-send", 1, 1, {2, {}}), "New"),
         on_cpu(rung_run("mpi-send", 2, 1, {2, {}}), "New")});
    const auto by_mpirun = in_environment(in_environment(two, "OMPI_MCA_mpi_oversubscribe", "0"),
                                          "OMPI_MCA_pmix", "^s1,s2,cray,isolated");
    add("what mpirun and MPI leave", {one, in_environment(by_mpirun, "OMPI_MCA_pml", "^cm,ucx")});
    add("what the user set: none", {one, in_environment(by_mpirun, "OMPI_MCA_pml", "ob1")});
    auto invalid = rung_run("mpi-send", 2, 1, {1, {}});
    invalid.valid = false;
    const auto four = rung_run("mpi-send", 4, 1, {1, {}});
    add("two runs pooled: 8 / 5; other records and settings apart",
        {one, rung_run("mpi-send", 2, 1, {6, {}}), two, invalid, with_setting(four, "size", "1000"),
         with_setting(four, "fsync", "on")});
    all.expect("writing_series.txt");
}

results::Run read_run(const std::string& cache) {
    auto run = rung_run("binary", 1, 1, {0.5, {0.4, 0.6}});
    run.measurements.push_back(io_measurement("read_MiBps", "MiB/s", results::Kind::rate, {1000, {}, 7}));
    if (!cache.empty()) run.context.push_back({"storage", "cache", cache});
    return run;
}

TEST(StoragePlace, IsWhatTheRunStored) {
    auto run = read_run("warm 100 %");
    run.context.push_back({"storage", "directory", "/scratch/out"});
    run.context.push_back({"storage", "file_system", "lustre"});
    run.config.push_back({"fsync", "true"});
    EXPECT_EQ(storage_place(run), (StoragePlace{"/scratch/out", "lustre", "yes", "warm 100 %"}));
    EXPECT_EQ(cache_kind(run), "warm");
}

TEST(StoragePlace, OfAnOlderRunIsWhatItsTablesSayOrUnknown) {
    auto run = read_run("");
    EXPECT_EQ(storage_place(run), (StoragePlace{"unknown", "unknown", "unknown", "unknown"}));
    EXPECT_EQ(cache_kind(run), "") << "an older run is kept apart from none by it";
    run.tables.push_back({"io_reads",
                          {{"pass", std::vector<std::string>{"read 1", "read 2", "check"}},
                           {"cache", std::vector<std::string>{"cold", "warm", "warm"}},
                           {"file_system", std::vector<std::string>{"ext4", "ext4", "ext4"}}}});
    EXPECT_EQ(storage_place(run), (StoragePlace{"unknown", "ext4", "unknown", "cold"}));
    std::get<std::vector<std::string>>(run.tables.back().columns[0].values)[1] = "read 1";
    EXPECT_EQ(storage_place(run).cache, "cold, warm");
    EXPECT_EQ(cache_kind(run), "mixed");
}

TEST(StoragePlace, ColdAndWarmRunsAreNeverPooled) {
    GroupedRuns grouped;
    for (const char* cache : {"cold", "warm 99 %", "warm 100 %", "mixed 40 %", "mixed 41 %"})
        grouped.add(read_run(cache));
    std::vector<std::size_t> counts;
    for (const auto& group : grouped.groups()) counts.push_back(group.all());
    EXPECT_THAT(counts, ElementsAre(1, 2, 2));
    EXPECT_THAT(kept_apart(grouped), ElementsAre("cache: cold | mixed | warm"));
}

TEST(LadderRows, HaveTheWidestIntervalOfASpeedupThatBothTimesAllow) {
    const auto rows = ladder_rows(sample_ladder().tables[0]);
    EXPECT_TRUE(std::isnan(rows[0].speedup_ci.low)) << "the base over itself";
    EXPECT_DOUBLE_EQ(rows[2].speedup_ci.low, 4.7 / 0.18);
    EXPECT_DOUBLE_EQ(rows[2].speedup_ci.high, 5.0 / 0.15);
    EXPECT_TRUE(std::isnan(rows[3].speedup_ci.low)) << "no interval of its own";
}

// What the first screens do not show (formats/screens_test.cpp): the reason where intervals part the fastest.
TEST(LadderAdvice, IsAsStored) {
    auto run = ladder_run(
        {{"text-loop", {4, {3.9, 4.1}}}, {"binary", {1, {0.9, 1.1}}}, {"mpi-send", {1.2, {1, 1.4}}}},
        {"", "", ""});
    const auto advice = [](const results::Run& of) {
        return lines_of(ladder_advice(ladder_rows(of.tables[0], of), scope_of(of)));
    };
    Outputs all;
    all.add("intervals overlap", advice(run));
    std::get<std::vector<std::string>>(run.tables[0].columns[13].values)[2] = "not verified";
    run.context.push_back({"ladder", "strategies_left", "mpi-send, hdf5-serial"});
    run.config.push_back({"fsync", "true"});
    all.add("binary is 4 times as fast; strategies left, fsync", advice(run));
    std::get<std::vector<std::string>>(run.tables[0].columns[13].values)[1] = "not verified";
    all.add("one row alone is verified", advice(run));
    all.add("no interval", advice(ladder_run({{"text-loop", {4, {}, 1}}, {"binary", {1, {}, 1}}}, {"", ""})));
    all.expect("ladder_advice.txt");
    EXPECT_TRUE(ladder_advice({}, {}).empty());
}

}  // namespace
}  // namespace ranklab::report::model
