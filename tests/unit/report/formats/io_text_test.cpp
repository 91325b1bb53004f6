#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/formats/formats.hpp"
#include "unit/report/flat_text.hpp"
#include "unit/report/io_runs_sample.hpp"

namespace ranklab::report::formats {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(IoText, SaysWhatWasWrittenAndHowFast) {
    const std::string text = run_text(rung_run("mpi-send", 2, 1, {0.5, {0.4, 0.6}}));
    EXPECT_THAT(text, HasSubstr("records       100 of 300 x 300 float64, 68.7 MiB as numbers, by mpi-send; "
                                "2\n                rank(s)"));
    // 812.3456 MiB/s x 1.048576 = 851.8 MB/s
    EXPECT_THAT(text,
                HasSubstr("write         812.3 MiB/s (851.8 MB/s), 95 % 800.0 .. 820.0 MiB/s, n = 7\n"));
    EXPECT_THAT(text, HasSubstr("files         200.0 files/s, no interval, n = 7\n"));
    EXPECT_THAT(text, ContainsRegex("job_time_s +s +7 +0.5 +0.4 .. 0.6"));
    EXPECT_THAT(text, ContainsRegex("phase +calls +total s +%\n +generate +700 +0.75 +75.0\n"));
    EXPECT_THAT(text, ContainsRegex("read back and compared +passed"));
    EXPECT_THAT(text, Not(HasSubstr("mg/sec")));
}

TEST(IoText, ShowsALadderWithFootnotes) {
    const std::string text = run_text(sample_ladder());
    EXPECT_THAT(text, ContainsRegex("text-loop, 2 ranks +7 +4.800 +4.700 .. 5.000\n"));
    EXPECT_THAT(text, ContainsRegex("text-loop, 2 ranks +812.3 \\(851.8\\) +50.00\n"));
    EXPECT_THAT(text, ContainsRegex("binary, 2 ranks +30.00 x +26.11 .. 33.33 +8.750 x"));
    EXPECT_THAT(text, ContainsRegex("process-pool, 2 ranks \\[1\\] +3 +0.3000 +n/a \\(n < 6\\)\n"));
    EXPECT_THAT(text, ContainsRegex("process-queue, 2 ranks \\[1\\] "));
    EXPECT_THAT(text, ContainsRegex("hdf5-parallel-collective, 2 ranks \\[2\\] +91.2 of write +yes"));
    EXPECT_THAT(text, HasSubstr("speedup: over text-loop, 2 ranks, 4.800 s\n"));
    EXPECT_THAT(text, HasSubstr("  [1] 3 repetitions: no interval\n  [2] collective writing was asked for"));
    EXPECT_THAT(text, Not(HasSubstr("[3]")));
    EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(IoText, NamesAnotherBaseWhereTextLoopWasNotRun) {
    const std::string text = run_text(ladder_run({{"binary", {1, {}}}}, {""}));
    EXPECT_THAT(text, HasSubstr("speedup: over binary, 2 ranks, 1.000 s"));
}

TEST(IoText, OfAnInvalidRunShowsNoRates) {
    auto run = rung_run("binary", 1, 1, {0.5, {}});
    run.valid = false;
    run.exit_code = 3;
    EXPECT_THAT(run_text(run), Not(HasSubstr("MiB/s")));
    auto ladder = sample_ladder();
    ladder.valid = false;
    std::get<std::vector<std::string>>(ladder.tables[0].columns[13].values)[2] = "NO";
    const std::string text = run_text(ladder);
    EXPECT_THAT(text, ContainsRegex("binary, 2 ranks +7 +0.1600 +0.1500 .. 0.1800\n"));
    EXPECT_THAT(text, ContainsRegex("binary, 2 ranks +n/a +n/a +n/a\n"));
    EXPECT_THAT(text, ContainsRegex("binary, 2 ranks +n/a +NO"));
    EXPECT_THAT(text, ContainsRegex("mpi-send, 2 ranks +40.00 x|mpi-send, 2 ranks +812.3 "));
}

TEST(IoText, ShowsStorageCeilingsInBothUnits) {
    auto run = rung_run("binary", 1, 1, {0.5, {}});
    run.tables = {{"ceilings",
                   {{"ceiling", std::vector<std::string>{"write", "create"}},
                    {"value", std::vector<double>{1000, 25000}},
                    {"unit", std::vector<std::string>{"MiB/s", "files/s"}},
                    {"percent", std::vector<double>{93.5, stats::kNone}}}},
                  {"io_reads",
                   {{"pass", std::vector<std::string>{"read 1"}}, {"MiB_per_s", std::vector<double>{1000}}}}};
    const std::string text = run_text(run);
    EXPECT_THAT(text, ContainsRegex("write +1000 \\(1049\\) +MiB/s \\(MB/s\\) +93.5"));
    EXPECT_THAT(text, ContainsRegex("pass +MiB/s \\(MB/s\\)\n +read 1 +1000 \\(1049\\)"));
    EXPECT_THAT(text, ContainsRegex("create +2.5e\\+04 +files/s +n/a"));
}

TEST(IoText, SaysWhatIsComparedWithTheNearestCeiling) {
    auto run = rung_run("binary", 1, 1, {0.5, {}});
    const auto limit_of = [&](const std::string& unit) {
        run.tables = {{"ceilings",
                       {{"ceiling", std::vector<std::string>{"file creation"}},
                        {"value", std::vector<double>{25000}},
                        {"unit", std::vector<std::string>{unit}},
                        {"percent", std::vector<double>{93.5}},
                        {"binds", std::vector<std::string>{"yes"}}}}};
        return flat(answer_text(run));
    };
    EXPECT_THAT(limit_of("files/s"),
                HasSubstr("opening and closing of files, without waiting, is at 94 % of the nearest ceiling, "
                          "file creation at 25000 files/s"));
    EXPECT_THAT(limit_of("MiB/s"),
                HasSubstr("writing and fsync, without waiting, is at 94 % of the nearest"));
}

TEST(IoText, ShowsWhyACeilingDoesNotBindBelowTheTable) {
    auto run = rung_run("binary", 1, 1, {0.5, {}});
    run.tables = {{"ceilings",
                   {{"ceiling", std::vector<std::string>{"raw write()", "file creation"}},
                    {"percent", std::vector<double>{150.1, 40}},
                    {"binds", std::vector<std::string>{"does not bind", ""}},
                    {"mark", std::vector<std::string>{"150.1 % of raw write(): for a reason", ""}}}}};
    const std::string text = run_text(run);
    EXPECT_THAT(text, ContainsRegex("raw write\\(\\) +150.1 +does not bind \\[1\\]"));
    EXPECT_THAT(text, HasSubstr("  [1] 150.1 % of raw write(): for a reason\n"));
    EXPECT_THAT(text, Not(ContainsRegex("binds +mark")));
}

TEST(IoText, AShareAbove105PerCentIsNeverShownAsACeilingThatBinds) {
    auto run = sample_ladder();
    std::get<std::vector<double>>(run.tables[0].columns[12].values)[2] =
        190.9;  // as older versions stored it
    EXPECT_NE(run_text(run).find("190.9 of write (does not bind)"), std::string::npos);
}

}  // namespace
}  // namespace ranklab::report::formats
