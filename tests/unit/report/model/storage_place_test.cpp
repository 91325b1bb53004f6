#include "report/model/storage_place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/model/grouped_runs.hpp"
#include "report/model/ladder_advice.hpp"
#include "unit/report/io_runs_sample.hpp"

namespace ranklab::report::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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

TEST(StoragePlace, SaysNothingOfWhatWasNotDone) {
    const auto run = rung_run("binary", 1, 1, {0.5, {0.4, 0.6}});
    EXPECT_EQ(storage_place(run).cache, "");
    EXPECT_EQ(reading_words(storage_place(run)), "");
    EXPECT_THAT(writing_words({.fsync = "no"}), HasSubstr("may still be in memory"));
    EXPECT_THAT(reading_words({.cache = "cold"}), HasSubstr("the device delivered"));
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

std::vector<std::string> advice_of(const results::Run& run) {
    return ladder_advice(ladder_rows(run.tables[0], run), scope_of(run));
}

TEST(LadderAdvice, NamesTheFastestWithItsReasonWhereIntervalsPartIt) {
    auto run = ladder_run({{"text-loop", {4, {3.9, 4.1}}}, {"binary", {1, {0.9, 1.1}}}}, {"", ""});
    run.context.push_back({"ladder", "strategies_left", "mpi-send, hdf5-serial"});
    run.config.push_back({"fsync", "true"});
    EXPECT_THAT(
        advice_of(run),
        ElementsAre(StartsWith("best way to write here: binary, 2 ranks (1 s, 812.3 MiB/s), by its job "
                               "time: the next, text-loop, 2 ranks (4 s, 812.3 MiB/s), takes 4 times"),
                    HasSubstr("100 records of 300 x 300 float64 on the file system unknown, with fsync"),
                    HasSubstr("not tried: strategies mpi-send, hdf5-serial; other numbers of ranks than 2")));
}

TEST(LadderAdvice, DoesNotChooseWhereIntervalsOverlapOrAreNotThere) {
    auto run = ladder_run(
        {{"text-loop", {4, {3.9, 4.1}}}, {"binary", {1, {0.9, 1.1}}}, {"mpi-send", {1.2, {1, 1.4}}}},
        {"", "", ""});
    EXPECT_THAT(advice_of(run)[0],
                HasSubstr("cannot tell: binary, 2 ranks (1 s, 812.3 MiB/s) was the fastest, but "
                          "the 95 % interval of its job time does not part it from mpi-send"));
    EXPECT_THAT(advice_of(run)[0], Not(HasSubstr("text-loop")));
    run = ladder_run({{"text-loop", {4, {}, 1}}, {"binary", {1, {}, 1}}}, {"", ""});
    EXPECT_THAT(advice_of(run)[0],
                HasSubstr("cannot tell: binary, 2 ranks (1 s, 812.3 MiB/s) was the fastest, and "
                          "the next, text-loop"));
}

TEST(LadderAdvice, ChoosesAmongVerifiedRowsOnly) {
    auto run = ladder_run({{"text-loop", {4, {3.9, 4.1}}}, {"binary", {1, {0.9, 1.1}}}}, {"", ""});
    std::get<std::vector<std::string>>(run.tables[0].columns[13].values)[1] = "not verified";
    EXPECT_THAT(advice_of(run)[0], HasSubstr("cannot tell, since one row alone is verified"));
    EXPECT_THAT(advice_of(run)[1],
                HasSubstr("left out: binary, 2 ranks (1 s, 812.3 MiB/s) was faster, but is not"));
    EXPECT_TRUE(ladder_advice({}, {}).empty());
}

TEST(LadderRows, HaveTheWidestIntervalOfASpeedupThatBothTimesAllow) {
    const auto rows = ladder_rows(sample_ladder().tables[0]);
    EXPECT_TRUE(std::isnan(rows[0].speedup_ci.low)) << "the base over itself";
    EXPECT_DOUBLE_EQ(rows[2].speedup_ci.low, 4.7 / 0.18);
    EXPECT_DOUBLE_EQ(rows[2].speedup_ci.high, 5.0 / 0.15);
    EXPECT_TRUE(std::isnan(rows[3].speedup_ci.low)) << "no interval of its own";
}

}  // namespace
}  // namespace ranklab::report::model
