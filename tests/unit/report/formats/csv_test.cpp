#include "report/formats/formats.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "unit/results/sample_run.hpp"

namespace ranklab::report::formats {
namespace {

using results::sample_run;
using results::StoredRun;

using Rows = std::vector<std::vector<std::string>>;

// RFC 4180, after the comment lines at the top.
Rows parse(std::string text) {
    while (text.starts_with('#')) text.erase(0, text.find('\n') + 1);
    Rows rows(1, std::vector<std::string>(1));
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
            rows.back().back() += text[++i];
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && c == ',') {
            rows.back().emplace_back();
        } else if (!quoted && c == '\n') {
            rows.emplace_back(1);
        } else {
            rows.back().back() += c;
        }
    }
    rows.pop_back();  // what follows the last newline
    return rows;
}

TEST(RunsCsv, OfNoRunsIsTheHead) {
    const Rows rows = parse(runs_csv({}));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0], (std::vector<std::string>{
                           "run_id",    "command",     "label", "started_utc", "valid",     "name",
                           "unit",      "kind",        "n",     "median",      "mean",      "min",
                           "max",       "p95",         "p99",   "ci95_low",    "ci95_high", "rank_reduction",
                           "directory", "file_system", "fsync", "cache",       "cut_short"}));
}

TEST(RunsCsv, HasARowForEachMeasurement) {
    const StoredRun run = sample_run();
    const Rows rows = parse(runs_csv({run, sample_run("second")}));
    ASSERT_EQ(rows.size(), 1 + 2 * run.measurements.size());
    for (const auto& row : rows) EXPECT_EQ(row.size(), 23U);
    EXPECT_EQ(rows[1][0], run.id);
    EXPECT_EQ(rows[1][2], run.label);  // with comma and quotes
    EXPECT_EQ(rows[1][4], "1");
    EXPECT_EQ(rows[1][5], "step_time_s");
    EXPECT_EQ(rows[1][8], "20");
    EXPECT_EQ(std::stod(rows[1][9]), run.measurements[0].summary.median);
    EXPECT_EQ(std::stod(rows[1][14]), run.measurements[0].summary.p99);
    EXPECT_EQ(rows[1][17], "max");
    EXPECT_EQ(rows.back()[0], "second");
}

TEST(RunsCsv, LeavesNaNEmpty) {
    const Rows rows = parse(runs_csv({sample_run()}));
    EXPECT_EQ(rows[2][11], "");  // the throughput's min
    EXPECT_EQ(rows[5][9], "");   // train_loss has a NaN sample
}

// A text that begins with an apostrophe is the rest of it: docs/output_formats.md.
std::string text_of(const std::string& cell) {
    return cell.starts_with('\'') ? cell.substr(1) : cell;
}

TEST(RunsCsv, TextsAreNoFormulas) {
    StoredRun run = sample_run();
    run.measurements[0].summary.min = -1.5;
    for (const char* text : {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'", "'=1", "''x",
                             "=\"a\"", "a=1", "", " =1"}) {
        run.label = run.command = run.id = text;
        run.measurements[0].unit = run.measurements[0].name = run.measurements[0].rank_reduction = text;
        const auto row = parse(runs_csv({run}))[1];
        for (const std::size_t column : {0U, 1U, 2U, 5U, 6U, 17U}) {
            EXPECT_EQ(text_of(row[column]), text) << column;
            EXPECT_TRUE(row[column].find_first_of("=+-@\t\r\n") != 0) << row[column];
        }
        EXPECT_EQ(row[11], "-1.5") << "a number stays one";
    }
}

TEST(RunsCsv, QuotesLineBreaks) {
    StoredRun run = sample_run();
    run.label = "two\nlines\r";
    EXPECT_EQ(parse(runs_csv({run}))[1][2], run.label);
}

}  // namespace
}  // namespace ranklab::report::formats
