#include "report/model/io_ladder.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "report/model/io_scaling.hpp"
#include "unit/report/io_runs_sample.hpp"

namespace ranklab::report::model {
namespace {

TEST(SpeedupOfTimes, HasTheWidestIntervalThatBothAllow) {
    const Speedup s = speedup({8, {6, 10}}, {2, {1, 4}});
    EXPECT_EQ(s.ratio, 4);
    EXPECT_EQ(s.interval.low, 6.0 / 4);
    EXPECT_EQ(s.interval.high, 10.0 / 1);
    EXPECT_TRUE(std::isnan(speedup({8, {}}, {2, {1, 4}}).interval.low));
    EXPECT_TRUE(std::isnan(speedup({8, {6, 10}}, {2, {}}).interval.high));
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

TEST(LadderRows, MissingColumnsAreNoNumbers) {
    const auto rows = ladder_rows({"ladder", {{"rung", std::vector<std::string>{"binary"}}}});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].ranks, 1);
    EXPECT_TRUE(std::isnan(rows[0].time.median_s));
    EXPECT_EQ(rows[0].mark, "");
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
    const auto all =
        scaling_series({rung_run("mpi-send", 2, 1, {4, {3, 5}}), rung_run("mpi-send", 1, 1, {8, {6, 10}}),
                        rung_run("process-queue", 1, 1, {6, {}}),
                        rung_run("process-queue", 2, 2, {3, {}}),  // workers of rank 0 alone
                        rung_run("binary", 1, 1, {1, {}}), rung_run("binary", 2, 1, {1, {}})});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].rung, "mpi-send");
    EXPECT_FALSE(all[0].by_workers);
    EXPECT_EQ(all[0].points[0].width, 1);
    EXPECT_EQ(all[0].points[0].speedup.ratio, 1);
    EXPECT_TRUE(std::isnan(all[0].points[0].speedup.interval.low));
    EXPECT_EQ(all[0].points[1].speedup.ratio, 2);
    EXPECT_EQ(all[0].points[1].speedup.interval.low, 6.0 / 5);
    EXPECT_EQ(all[0].points[1].speedup.interval.high, 10.0 / 3);
    EXPECT_EQ(all[1].rung, "process-queue");
    EXPECT_TRUE(all[1].by_workers);
    EXPECT_EQ(all[1].points[1].speedup.ratio, 2);
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
    EXPECT_TRUE(scaling_series({on(rung_run("mpi-send", 1, 1, {8, {}}), "Old"),
                                on(rung_run("mpi-send", 2, 1, {4, {}}), "New")})
                    .empty());
    const auto both = scaling_series(
        {on(rung_run("mpi-send", 1, 1, {8, {}}), "Old"), on(rung_run("mpi-send", 2, 1, {4, {}}), "Old"),
         on(rung_run("mpi-send", 1, 1, {2, {}}), "New"), on(rung_run("mpi-send", 2, 1, {2, {}}), "New")});
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].surroundings, "host.cpu New");
    EXPECT_EQ(both[0].points[1].speedup.ratio, 1);
    EXPECT_EQ(both[1].points[1].speedup.ratio, 2);
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
    EXPECT_EQ(scaling_series({alone, with(two, "OMPI_MCA_pml", "^cm,ucx")}).size(), 1U);
    EXPECT_TRUE(scaling_series({alone, with(two, "OMPI_MCA_pml", "ob1")}).empty()) << "the user's word";
    const auto binary = rung_run("binary", 1, 1, {2, {}});
    EXPECT_EQ(newest_ladder({binary, with(two, "OMPI_MCA_pml", "^cm,ucx")}).rows.size(), 2U);
}

TEST(ScalingSeries, TakeTheNewestRunAndKeepOtherRecordsAndSettingsApart) {
    auto invalid = rung_run("mpi-send", 2, 1, {1, {}});
    invalid.valid = false;
    auto larger = rung_run("mpi-send", 4, 1, {1, {}});
    larger.config[2].value = "1000";
    auto synced = rung_run("mpi-send", 4, 1, {1, {}});
    synced.config.push_back({"fsync", "on"});
    const auto all = scaling_series({rung_run("mpi-send", 1, 1, {8, {}}), rung_run("mpi-send", 2, 1, {5, {}}),
                                     rung_run("mpi-send", 2, 1, {4, {}}), invalid, larger, synced});
    ASSERT_EQ(all.size(), 1U);
    ASSERT_EQ(all[0].points.size(), 2U);
    EXPECT_EQ(all[0].points[1].time.median_s, 4);
}

}  // namespace
}  // namespace ranklab::report::model
