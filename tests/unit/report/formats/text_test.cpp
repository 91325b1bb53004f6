#include "report/formats/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/model/text_table.hpp"
#include "unit/report/flat_text.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::report::formats {
namespace {

using results::RunHeader;
using results::sample_run;
using results::StoredRun;

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(RunText, HasTheRateLines) {
    const std::string text = run_text(sample_run());  // 3200, interval 3100 .. 3250, 2 ranks
    EXPECT_TRUE(has_line(text, "Img/sec per rank: 1600.0 +- 50.0")) << text;
    EXPECT_TRUE(has_line(text, "Total img/sec on 2 rank(s): 3200.0 +- 100.0")) << text;
}

TEST(RunText, SaysWhereThereIsNoInterval) {
    StoredRun run = sample_run();
    run.measurements[1] = results::throughput(0.0123456, stats::kNone, stats::kNone, 3);
    const std::string text = run_text(run);
    EXPECT_TRUE(has_line(text, "Img/sec per rank: 0.006173 +- n/a (n < 6)")) << text;
    EXPECT_TRUE(has_line(text, "Total img/sec on 2 rank(s): 0.01235 +- n/a (n < 6)")) << text;
}

TEST(RunText, TellsWhatAPersonAsksFirst) {
    const std::string text = run_text(sample_run());
    for (const char* part :
         {"run 20261121T101500Z-3f9a1c", "train", "2026-11-21T10:15:00Z, 12.2 s",
          "2 rank(s) on 1 host(s): node01 (ranks 0-1); cpu", "test accuracy 89.12 %", "peak memory   1.0 GiB",
          "computing     2 threads a rank", "parameters equal", "warning: 2 ranks share a core"})
        EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

TEST(RunText, SaysOutliersAndWarmupInOneLine) {
    StoredRun run = sample_run();
    using Counts = std::vector<std::int64_t>;
    run.tables.push_back({"statistics",
                          {{"name", std::vector<std::string>{"step_time_s", "forward_time_s"}},
                           {"n", Counts{300, 300}},
                           {"outliers_low", Counts{0, 1}},
                           {"outliers_high", Counts{3, 9}},
                           {"warmup_fixed", Counts{10, 10}},
                           {"warmup_detected", Counts{35, 0}}}});
    const std::string text = run_text(run);
    EXPECT_TRUE(contains(flat(text),
                         "outliers 0 low, 3 high of 300 in step_time_s, all counted; warm-up: fixed 10, "
                         "detected 35"))
        << text;
    EXPECT_FALSE(contains(text, "statistics")) << text;
    EXPECT_FALSE(contains(text, "forward_time_s")) << text;
}

TEST(RunText, OfTooFewStepsNobodyKnowsWhereTheBeginningEnds) {
    StoredRun run = sample_run();
    using Counts = std::vector<std::int64_t>;
    run.tables.push_back({"statistics",
                          {{"name", std::vector<std::string>{"step_time_s"}},
                           {"n", Counts{14}},
                           {"outliers_low", Counts{0}},
                           {"outliers_high", Counts{0}},
                           {"warmup_fixed", Counts{5}},
                           {"warmup_detected", Counts{0}}}});
    EXPECT_TRUE(contains(flat(run_text(run)), "warm-up: fixed 5, detected n/a (n < 20) ")) << run_text(run);
    run.tables.back().columns[1].values = Counts{15};
    EXPECT_TRUE(contains(flat(run_text(run)), "warm-up: fixed 5, detected 0 ")) << run_text(run);
}

// Of a run that was ended before its first number, and of one whose numbers are none.
TEST(RunText, NoNumberIsNotANumber) {
    for (const std::size_t n : {0U, 1U}) {
        StoredRun run = sample_run();
        run.measurements.push_back(results::one_value("load_imbalance", "1", results::Kind::ratio, {1}));
        run.measurements.push_back(results::one_value("overlap", "1", results::Kind::ratio, {1}));
        for (auto& m : run.measurements) {
            m.samples.clear();
            m.warmup.clear();
            m.summary = {};
            m.summary.n = n;
        }
        run.measurements.back().summary.median = 0.5;  // of the overlap, whose balance is not there
        run.measurements.back().summary.ci95 = {0.4, 0.6};
        const std::string text = run_text(run);
        for (const char* bad : {" nan", "-nan", "(nan", " inf"})
            EXPECT_FALSE(contains(text, bad)) << bad << "\n" << text;
        EXPECT_TRUE(contains(text, "balance n/a")) << text;
        EXPECT_EQ(contains(text, "peak memory   n/a"), n > 0) << text;
    }
}

// Never the median over epochs.
TEST(RunText, ShowsTheLastAccuracyWithOrWithoutSamples) {
    StoredRun run = sample_run();
    run.measurements[3].samples.clear();  // as read with Detail::summaries
    EXPECT_FALSE(contains(run_text(run), "test accuracy")) << run_text(run);
    run.tables[0].columns.push_back({"validation_accuracy", std::vector<double>{0.81, 0.8912}});
    EXPECT_TRUE(contains(run_text(run), "test accuracy 89.12 %")) << run_text(run);
}

TEST(RunText, ShowsPhasesWithTheirShare) {
    StoredRun run = sample_run();
    results::Measurement forward = run.measurements[0];
    forward.name = "forward_time_s";  // the slowest rank's in each step: its mean is no share
    run.measurements.push_back(forward);
    EXPECT_FALSE(contains(run_text(run), "100.0 %")) << "an older file does not say";
    const auto phase = [&](const std::string& name) {
        run.tables = {{"phases",
                       {{"phase", std::vector<std::string>{name, "other", "step"}},
                        {"percent", std::vector<double>{25, 75, 100}}}}};
        return run_text(run);
    };
    const std::string text = phase("forward");
    EXPECT_THAT(text, testing::ContainsRegex("phase +unit +n +median +95% interval +share\n"));
    EXPECT_THAT(text, testing::ContainsRegex("\n  phase +min +p95 +p99 +max\n"));
    EXPECT_THAT(text, testing::ContainsRegex("forward_time_s +[0-9.]+ +[0-9.]+ +max +[0-9.]+\n"));
    EXPECT_THAT(text, testing::ContainsRegex("forward_time_s +s +20 .* 25.0 %\n"));
    EXPECT_THAT(text, testing::ContainsRegex("\n  other +75.0 %"));
    for (const char* overhead : {"scatter", "replicate", "gather", "reduce"}) {
        run.measurements.back().name = overhead + std::string("_time_s");
        EXPECT_THAT(phase(overhead),
                    testing::ContainsRegex(overhead + std::string("_time_s +s +20 .* 25.0 %")));
    }
}

TEST(RunText, OfAnInvalidRunShowsNoRates) {
    StoredRun run = sample_run();
    run.valid = false;
    run.exit_code = 3;
    run.warnings = {"the loss is NaN at step 7"};
    const std::string text = run_text(run);
    EXPECT_TRUE(contains(text, "INVALID (exit code 3)")) << text;
    EXPECT_TRUE(contains(text, "  - the loss is NaN at step 7")) << text;
    EXPECT_FALSE(contains(text, "mg/sec")) << text;
    EXPECT_FALSE(contains(text, "throughput")) << text;
}

TEST(RunText, OfAnEmptyRunIsShort) {
    const std::string text = run_text({});
    EXPECT_TRUE(contains(text, "where         unknown")) << text;
    EXPECT_FALSE(contains(text, "nan")) << text;
}

TEST(RunText, LetsNoControlCharacterThrough) {
    StoredRun run = sample_run();
    run.label = "\x1b[31mred\a";
    run.warnings = {"a\nb\x1b]0;title"};
    run.measurements[0].name = "step\x1b_time";
    run.hosts[0].host = "\x1b";
    for (const char c : run_text(run)) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20U);
}

TEST(RunText, CutsLongTables) {
    StoredRun run = sample_run();
    run.tables = {{"many", {{"n", std::vector<std::int64_t>(100, 7)}}}};
    EXPECT_TRUE(contains(run_text(run), "and 88 more rows\n")) << run_text(run);
    EXPECT_TRUE(contains(run_text(run, {.all_rows = "--format json"}), "and 88 more rows (--format json)\n"));
}

using model::ListedRun;

ListedRun listed(results::RunHeader header, std::string what, std::string rate) {
    ListedRun run(header);
    run.what = std::move(what);
    run.rate = std::move(rate);
    return run;
}

TEST(RunsText, ListsAndSaysWhatToType) {
    const std::vector<ListedRun> runs{
        listed({"first", "train", "größer", "2026-11-21T10:15:00Z", true, 0}, "train mnist-cnn ddp on 2 x 1",
               "494.2 samples/s"),
        listed({"second", "io", "b", "2026-11-21T10:16:00Z", false, 3}, "io binary on 1 x 1", "")};
    const model::HowTo how_to{.one_run = "ranklab report r.h5 --run"};
    const std::string text = runs_text(runs, SIZE_MAX, "", how_to);
    EXPECT_TRUE(has_line(text, "  run (UTC time)  what on ranks x threads                  rate  label"))
        << text;
    EXPECT_TRUE(has_line(text, "  first           train mnist-cnn ddp on 2 x 1  494.2 samples/s  größer"))
        << text;
    EXPECT_TRUE(has_line(text, "  second          io binary on 1 x 1                INVALID (3)  b")) << text;
    EXPECT_TRUE(has_line(text, "  ranklab report r.h5 --run second")) << text;
    EXPECT_TRUE(has_line(runs_text(runs), "2 run(s).")) << "nobody said what to type";
}

// Its numbers are those of a shorter run; text, JSON and CSV say so alike.
TEST(RunsText, MarksWhatWasCutShort) {
    const auto said = [](int exit_code, bool valid, const std::string& warning) {
        StoredRun run = sample_run("id");
        run.label = "";
        run.exit_code = exit_code;
        run.valid = valid;
        run.warnings = {warning};
        const std::string why = run.cut_short();
        EXPECT_EQ(
            contains(flat(runs_text({model::listed(run)})), "cut short: " + why.substr(0, why.find(" "))),
            !why.empty());
        EXPECT_EQ(contains(run_text(run), "\n  cut short     " + why), !why.empty());
        EXPECT_TRUE(contains(one_run_json(run), "\"cut_short\":\"" + why + "\"")) << one_run_json(run);
        EXPECT_TRUE(contains(runs_csv({run}), ',' + why + '\n')) << runs_csv({run});
        return why;
    };
    EXPECT_EQ(said(0, true, "2 ranks share a core"), "");
    EXPECT_EQ(said(7, true, "not converged"), "");
    EXPECT_EQ(said(130, true, "stopped by Ctrl-C (SIGINT)"), "SIGINT");
    EXPECT_EQ(said(137, false, ""), "SIGKILL");
    EXPECT_EQ(said(3, false, "the loss is NaN"), "");
    EXPECT_EQ(said(6, true, "the time limit ended the run"), "time limit");
    EXPECT_EQ(said(143, true, "stopped by SIGTERM"), "SIGTERM");
    EXPECT_EQ(said(129, true, "stopped by SIGHUP"), "SIGHUP");
    EXPECT_EQ(said(5, false, std::string(results::kNotComplete) + "it was measured until noon"),
              "not complete");
}

TEST(RunsText, CutsALongLabelAndKeepsNumbersTogether) {
    const std::vector<ListedRun> runs{
        listed({"20261121T101500Z-0a1b2c3d", "train", std::string(300, 'x'), "t", true, 0},
               "train mnist-cnn ddp on 1 x 1", "494.2 samples/s"),
        listed({"20261121T101600Z-0a1b2c3d", "train", "short", "t", true, 0},
               std::string(200, 'y') + " on 2 x 1", "494.2 samples/s")};
    for (const std::size_t shown : {std::size_t{2}, std::size_t{0}}) {
        const std::string text = runs_text(runs, shown);
        EXPECT_FALSE(contains(text, std::string(25, 'x'))) << text;
        EXPECT_TRUE(contains(text, std::string(21, 'x') + "...")) << text;
    }
    const std::string text = runs_text(runs);
    EXPECT_TRUE(contains(text, "1 x 1")) << text;
    EXPECT_FALSE(contains(text, std::string(61, 'y'))) << text;
    EXPECT_FALSE(contains(text, std::string(model::kNoBreak))) << "shown as blanks";
}

TEST(RunsText, TellsOfARunWhatItIsFoundBy) {
    StoredRun run = sample_run();
    run.command = "train";
    run.config = {{"model", "mnist-cnn", false}, {"mode", "ddp", false}, {"threads", "2", true}};
    EXPECT_EQ(model::listed(run).what, fmt::format("train mnist-cnn ddp on {} x 2", run.hosts.size()));
    run.valid = false;
    EXPECT_EQ(model::listed(run).rate, "") << "its numbers do not stand";
    run.command = "io";
    run.config = {{"strategy", "process-pool,process-queue,binary", false}, {"workers", "3", true}};
    EXPECT_EQ(model::listed(run).what, "io process-pool, process-queue and 1 more by 3 workers");
}

TEST(RunsText, OfManyShowsTheNewestAndCountsTheRest) {
    std::vector<ListedRun> runs;
    for (int i = 0; i < 30; ++i)
        runs.push_back(results::RunHeader{"id" + std::to_string(100 + i), i % 3 == 0 ? "io" : "train",
                                          "night", "t", i != 5, 0});
    const std::string text = runs_text(runs, 20, "label=night", {.list_older = "--last lists more"});
    EXPECT_FALSE(contains(text, "id109"));
    EXPECT_TRUE(contains(text, "id110"));
    EXPECT_TRUE(contains(text, "id129"));
    EXPECT_TRUE(has_line(text, "  20      train    night")) << text;
    EXPECT_TRUE(has_line(text, "  10      io       night")) << text;
    EXPECT_TRUE(contains(text, "10 older run(s) are not listed, and 1 of all are invalid; --last lists more"))
        << text;
    EXPECT_TRUE(contains(text, "30 run(s) of label=night."));
    EXPECT_FALSE(contains(runs_text(runs, 30), "not listed"));
}

}  // namespace
}  // namespace ranklab::report::formats
