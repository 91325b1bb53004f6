// Runs as other programs read them: CSV, JSON, Extra-P's lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "report/formats/formats.hpp"
#include "thrown_sentence.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::formats {
namespace {

using nlohmann::json;
using results::sample_run;
using results::StoredRun;
using ::testing::HasSubstr;
using Runs = std::vector<StoredRun>;

std::string csv_of(const Runs& runs, const model::Choice& choice = {}) {
    const StoredRuns stored(runs);
    return written([&](const model::Sink& sink) { write_csv(stored.chosen(choice), sink); });
}

std::string extrap_of(const Runs& runs, const std::vector<std::string>& keys = {}) {
    const StoredRuns stored(runs);
    return written([&](const model::Sink& sink) { write_extrap(stored.chosen(), keys, sink); });
}

// RFC 4180, after the comment lines at the top.
std::vector<std::vector<std::string>> parse_csv(std::string text) {
    while (text.starts_with('#')) text.erase(0, text.find('\n') + 1);
    std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
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
    rows.pop_back();  // after the last newline
    return rows;
}

TEST(Exports, AreAsStored) {
    Outputs texts;
    const Runs both{sample_run(), sample_run("second")}, alone{step_run("a", 2, 0.1)},
        several{step_run("a", 2, 0.1), step_run("b", 2, 0.2), step_run("c", 4, 0.1)};
    texts.add("CSV", csv_of(both));
    texts.add("CSV of no run", csv_of(both, {"", "no such", {}, 0}));
    texts.add("JSON", runs_json(both));
    texts.add("JSON of no run", runs_json({}));
    texts.add("Extra-P", extrap_of(several));
    texts.add("Extra-P by two parameters", extrap_of(alone, {"ranks", "batch-size"}));
    texts.expect("exports.txt");
}

TEST(Exports, StreamedAreTheSameAsOfRunsInMemory) {
    const StoredRuns stored({sample_run("b"), sample_run("a")});
    const auto read = stored.file().read_all(results::Detail::summaries);
    EXPECT_EQ(written([&](const model::Sink& sink) { write_json(stored.chosen(), sink); }),
              runs_json(read));
    const auto nothing = stored.chosen({"", "no such", {}, 0});
    EXPECT_EQ(written([&](const model::Sink& sink) { write_json(nothing, sink); }), runs_json({}));
}

TEST(Exports, HaveNumbersThatReadBackToTheSameDouble) {
    StoredRun run = sample_run();
    run.measurements = {
        results::one_value("third", "s", results::Kind::cost, {1.0 / 3, 2e-308, 1e300})};
    const auto& s = run.measurements[0].summary;
    const json parsed = json::parse(runs_json({run}))["runs"][0]["measurements"][0];
    const auto row = parse_csv(csv_of({run}))[1];
    EXPECT_TRUE(parsed["median"] == 1.0 / 3 && std::stod(row[9]) == 1.0 / 3);
    EXPECT_TRUE(parsed["mean"] == s.mean && std::stod(row[10]) == s.mean);
    EXPECT_TRUE(parsed["min"] == 2e-308 && row[11] == "2e-308");
    EXPECT_TRUE(parsed["max"] == 1e300 && std::stod(row[12]) == 1e300);
}

// Drops the apostrophe that protects a text (docs/output_formats.md).
TEST(RunsCsv, TextsAreNoFormulasAndLineBreaksAreQuoted) {
    StoredRun run = sample_run();
    run.measurements[0].summary.min = -1.5;
    for (const char* text : {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'", "'=1",
                             "''x", "=\"a\"", "a=1", "", " =1", "two\nlines\r"}) {
        run.label = run.measurements[0].unit = run.measurements[0].rank_reduction = text;
        const auto row = parse_csv(csv_of({run}))[1];
        for (const std::size_t column : {2U, 6U, 17U}) {
            EXPECT_EQ(row[column].starts_with('\'') ? row[column].substr(1) : row[column], text)
                << column;
            EXPECT_TRUE(row[column].find_first_of("=+-@\t\r\n") != 0) << row[column];
        }
        EXPECT_EQ(row[11], "-1.5") << "a number stays one";
    }
}

TEST(Extrap, RefusesParametersThatAreNoNumbers) {
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>(
                    [&] { extrap_of({step_run("a", 2, 0.1)}, {"sync"}); }),
                HasSubstr("sync 'flat'"));
}

TEST(Extrap, WarnsOfDifferingMachinesWithinACommandAlone) {
    StoredRun other = step_run("b", 2, 0.1);
    other.git_revision = "fedcba987654";
    StoredRun io = other;
    io.command = "io";
    const auto warned = [](const StoredRun& run) {
        ::testing::internal::CaptureStderr();
        extrap_of({step_run("a", 2, 0.1), run});
        return ::testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(warned(io), "") << "another command is no repetition";
    EXPECT_THAT(warned(other), HasSubstr("git_revision"));
}

// argv may hold any bytes, and a failed measurement any number.
TEST(EveryJson, IsValidWhateverTheTextsAndNumbers) {
    StoredRun run = step_run("a", 1, 0.1);
    run.label = "\x01\x7f\"\\ \xff\xc3 \xed\xa0\x80 end";
    run.argv = run.label;
    run.config[0].value = run.label;
    run.warnings = {run.label};
    run.measurements[0].samples[2] = NAN;
    run.measurements[1].samples[3] = INFINITY;
    run.measurements[1].summary.median = INFINITY;
    run.measurements[2].summary.median = NAN;
    const json parsed = json::parse(runs_json({run}));
    EXPECT_TRUE(parsed["runs"][0]["measurements"][1]["median"].is_null());
    EXPECT_THAT(parsed["runs"][0]["label"].get<std::string>(), HasSubstr("\xEF\xBF\xBD"));
    std::istringstream lines(extrap_of({run}));
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(json::parse(line)["value"].is_number());
}

}  // namespace
}  // namespace ranklab::report::formats
