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

TEST(NewestLadder, IsTheLastTableOrTheRunsThemselves) {
    auto old = sample_ladder();
    old.config[1].value = "7";
    EXPECT_NE(newest_ladder({old, sample_ladder()}).title.find("100 records of 300 x 300"),
              std::string::npos);
    // Without a table: the newest run of each rung that has the newest run's records.
    auto other = rung_run("binary", 1, 1, {9, {}});
    other.config[1].value = "7";
    const auto ladder =
        newest_ladder({rung_run("text-loop", 1, 1, {8, {6, 10}}), rung_run("binary", 1, 1, {4, {}}), other,
                       rung_run("binary", 1, 1, {2, {1, 4}})});
    ASSERT_EQ(ladder.rows.size(), 2U);
    EXPECT_EQ(ladder.rows[1].time.median_s, 2);
    EXPECT_EQ(ladder.rows[1].speedup, 4);
    EXPECT_EQ(ladder.rows[1].over_previous, 4);
    EXPECT_EQ(ladder.rows[1].verified, "yes");
}

TEST(NewestLadder, MarksInvalidRunsAndIgnoresOtherCommands) {
    auto invalid = rung_run("binary", 1, 1, {4, {}});
    invalid.valid = false;
    invalid.warnings = {"3 values are wrong"};
    EXPECT_EQ(newest_ladder({invalid}).rows.at(0).mark, "INVALID: 3 values are wrong");
    auto train = rung_run("binary", 1, 1, {4, {}});
    train.command = "train";
    EXPECT_TRUE(newest_ladder({train, results::Run{}}).rows.empty());
}

TEST(ScalingSeries, AreOverRanksForMpiAndOverWorkersForProcesses) {
    const Made made({rung_run("mpi-send", 2, 1, {4, {3, 5}}), rung_run("mpi-send", 1, 1, {8, {6, 10}}),
                     rung_run("process-queue", 1, 1, {6, {}}),
                     rung_run("process-queue", 2, 2, {3, {}}),  // workers of rank 0 alone
                     rung_run("binary", 1, 1, {1, {}}), rung_run("binary", 2, 1, {1, {}})});
    const auto& all = made.all;
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].title, "mpi-send over ranks, 100 × 300²");
    EXPECT_EQ(all[0].points[0].width, 1);
    EXPECT_EQ(all[0].points[1].width, 2);
    EXPECT_EQ(made.speedup(0, 1), 2);
    EXPECT_EQ(all[1].title, "process-queue over workers, 100 × 300²");
    EXPECT_EQ(made.speedup(1, 1), 2);
}

// The rungs of another machine are no rows of this one's ladder, nor points of its series.
TEST(NewestLadder, AndSeriesAreOfOneMachine) {
    const auto on = [](results::Run run, const char* cpu) {
        run.context.push_back({"host", "cpu", cpu});
        return run;
    };
    const auto ladder = newest_ladder(
        {on(rung_run("text-loop", 1, 1, {8, {}}), "Old"), on(rung_run("binary", 1, 1, {4, {}}), "New")});
    ASSERT_EQ(ladder.rows.size(), 1U);
    EXPECT_EQ(ladder.rows[0].rung, "binary");
    EXPECT_TRUE(
        Made({on(rung_run("mpi-send", 1, 1, {8, {}}), "Old"), on(rung_run("mpi-send", 2, 1, {4, {}}), "New")})
            .all.empty());
    const Made made(
        {on(rung_run("mpi-send", 1, 1, {8, {}}), "Old"), on(rung_run("mpi-send", 2, 1, {4, {}}), "Old"),
         on(rung_run("mpi-send", 1, 1, {2, {}}), "New"), on(rung_run("mpi-send", 2, 1, {2, {}}), "New")});
    ASSERT_EQ(made.all.size(), 2U);
    EXPECT_EQ(made.all[0].title, "mpi-send over ranks, 100 × 300², host.cpu New");
    EXPECT_EQ(made.speedup(0, 1), 1);
    EXPECT_EQ(made.speedup(1, 1), 2);
}

// One rank alone starts without MPI and mpirun, both of which leave variables that nobody has set.
TEST(ScalingSeries, WhatMpirunAndMpisStartLeaveInTheEnvironmentIsNoOtherMachine) {
    const auto with = [](results::Run run, const char* name, const char* value) {
        run.context.push_back({"environment", name, value});
        return run;
    };
    const auto alone = rung_run("mpi-send", 1, 1, {8, {}});
    auto two = with(rung_run("mpi-send", 2, 1, {4, {}}), "OMPI_MCA_mpi_oversubscribe", "0");
    two = with(two, "OMPI_MCA_pmix", "^s1,s2,cray,isolated");
    EXPECT_EQ(Made({alone, with(two, "OMPI_MCA_pml", "^cm,ucx")}).all.size(), 1U);
    EXPECT_TRUE(Made({alone, with(two, "OMPI_MCA_pml", "ob1")}).all.empty()) << "the user's word";
    const auto binary = rung_run("binary", 1, 1, {2, {}});
    EXPECT_EQ(newest_ladder({binary, with(two, "OMPI_MCA_pml", "^cm,ucx")}).rows.size(), 2U);
}

TEST(ScalingSeries, PoolRunsThatAreAlikeAndKeepOtherRecordsAndSettingsApart) {
    auto invalid = rung_run("mpi-send", 2, 1, {1, {}});
    invalid.valid = false;
    auto larger = rung_run("mpi-send", 4, 1, {1, {}});
    larger.config[2].value = "1000";
    auto synced = rung_run("mpi-send", 4, 1, {1, {}});
    synced.config.push_back({"fsync", "on"});
    const Made made({rung_run("mpi-send", 1, 1, {8, {}}), rung_run("mpi-send", 2, 1, {6, {}}),
                     rung_run("mpi-send", 2, 1, {4, {}}), invalid, larger, synced});
    ASSERT_EQ(made.all.size(), 1U);
    ASSERT_EQ(made.all[0].points.size(), 2U);
    EXPECT_EQ(made.all[0].points[1].group->newest.median("job_time_s"), 4);
    EXPECT_EQ(made.speedup(0, 1), 8.0 / 5);
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
