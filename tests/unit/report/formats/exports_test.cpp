// Runs as other programs read them: CSV, JSON, Google Benchmark's JSON, Extra-P's lines, Chrome's
// trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>

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

std::string gbench_of(const Runs& runs) {
    const StoredRuns stored(runs);
    return written([&](const model::Sink& sink) { write_gbench(stored.chosen(), sink); });
}

std::string csv_of(const Runs& runs, const model::Choice& choice = {}) {
    const StoredRuns stored(runs);
    return written([&](const model::Sink& sink) { write_csv(stored.chosen(choice), sink); });
}

std::string extrap_of(const Runs& runs, const std::vector<std::string>& keys = {}) {
    const StoredRuns stored(runs);
    return written([&](const model::Sink& sink) { write_extrap(stored.chosen(), keys, sink); });
}

json trace_of(const model::ChosenRuns& runs, std::size_t steps) {
    return json::parse(
        written([&](const model::Sink& sink) { write_chrome_trace(runs, steps, sink); }));
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

StoredRun of_two_hosts() {
    StoredRun run = step_run("a", 2, 0.1);
    for (auto& m : run.measurements)
        if (!m.samples.empty()) m.columns = 2;  // 4 steps of two ranks
    run.hosts[1].host = "node02";
    return run;
}

StoredRun of_a_machine() {
    StoredRun run = step_run("a", 2, 0.1);
    run.valid = false;
    run.context = {{"host", "logical_cpus", "64"},
                   {"host", "governor", "powersave"},
                   {"host", "load_1min", "0.5"},
                   {"build", "type", "Debug"}};
    return run;
}

TEST(Exports, AreAsStored) {
    Outputs texts;
    const Runs both{sample_run(), sample_run("second")}, alone{step_run("a", 2, 0.1)},
        several{step_run("a", 2, 0.1), step_run("b", 2, 0.2), step_run("c", 4, 0.1)};
    texts.add("CSV", csv_of(both));
    texts.add("CSV of no run", csv_of(both, {"", "no such", {}, 0}));
    texts.add("JSON", runs_json(both));
    texts.add("JSON of no run", runs_json({}));
    texts.add("Google Benchmark: a repetition is a run, or of one run its own", gbench_of(several));
    texts.add("Google Benchmark: an invalid run, its machine", gbench_of({of_a_machine()}));
    texts.add("Extra-P", extrap_of(several));
    texts.add("Extra-P by two parameters", extrap_of(alone, {"ranks", "batch-size"}));
    texts.add("Chrome's trace: 3 of 4 steps on two hosts",
              trace_of(StoredRuns({of_two_hosts()}).chosen(), 3).dump(1));
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

TEST(Gbench, BoundsTheRepetitionsOfOneRun) {
    StoredRun run = step_run("a", 2, 0.1);
    run.measurements[0].samples.assign(2500, 0.1);
    run.measurements[0].summary = stats::summarise(run.measurements[0].samples);
    std::size_t repetitions = 0;
    const json parsed = json::parse(gbench_of({run}));
    for (const auto& one : parsed["benchmarks"])
        if (one["run_type"] == "iteration" &&
            one["run_name"].get<std::string>().ends_with("step_time"))
            ++repetitions;
    EXPECT_EQ(repetitions, 834U) << "every third";
}

TEST(Gbench, ShortensLongNamesAndKeepsThemApart) {
    Runs runs;
    for (const char end : {'a', 'b'}) {
        runs.push_back(step_run(std::string(1, end), 2, 0.1));
        for (auto& setting : runs.back().config)
            if (setting.key == "model") setting.value = std::string(5000, 'x') + end;
    }
    std::set<std::string> names;
    const json parsed = json::parse(gbench_of(runs));
    for (const auto& one : parsed["benchmarks"])
        if (const std::string name = one["run_name"]; name.ends_with("/step_time"))
            names.insert(name);
    EXPECT_EQ(names.size(), 2U);
    EXPECT_LT(names.begin()->size(), 500U);
}

// Viewers cut a time in us to whole nanoseconds after multiplying by 1000.
TEST(ChromeTrace, NestsInWholeNanoseconds) {
    StoredRun run = step_run("a", 1, 0.1);
    for (auto& m : run.measurements)
        for (std::size_t i = 0; i < m.samples.size(); ++i) m.samples[i] *= 1 + 1e-7 * double(i + 1);
    std::int64_t end = 0;
    const json trace = trace_of(StoredRuns({run}).chosen(), 100);
    for (const auto& event : trace["traceEvents"]) {
        if (event["ph"] != "X") continue;
        const auto from = static_cast<std::int64_t>(event["ts"].get<double>() * 1000);
        const auto until = from + static_cast<std::int64_t>(event["dur"].get<double>() * 1000);
        if (event["cat"] == "step") {
            EXPECT_GE(from, end);
            end = until;
        } else {
            EXPECT_LE(until, end);
        }
    }
    EXPECT_GT(end, 0);
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

TEST(ChromeTrace, KeepsPhasesInsideTheirStep) {
    StoredRun run = step_run("a", 1, 0.1);
    for (double& sample : run.measurements[1].samples) sample *= 10;  // longer than their step
    double end = 0;
    const json parsed = trace_of(StoredRuns({run}).chosen(), 100);
    for (const auto& event : parsed["traceEvents"]) {
        if (event["ph"] != "X") continue;
        const double begin = event["ts"];
        if (event["cat"] == "step")
            end = begin + event["dur"].get<double>();
        else
            EXPECT_LE(begin + event["dur"].get<double>(), end + 1e-6);
    }
    EXPECT_NEAR(end, 0.8e6, 1);
}

TEST(ChromeTrace, RefusesMaximaOverRanks) {
    auto run = step_run("a", 2, 0.1);
    for (auto& m : run.measurements) m.samples = m.largest_of_rows();
    for (auto& m : run.measurements) m.columns = 1;
    const StoredRuns stored(Runs{run});
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([&] { trace_of(stored.chosen(), 10); }),
                HasSubstr("slowest rank"));
    run.context.push_back({"storage", "participants", "1"});
    const StoredRuns one_took_part(Runs{run});
    EXPECT_FALSE(trace_of(one_took_part.chosen(), 10)["traceEvents"].empty());
}

TEST(ChromeTrace, OfEverythingIsTheNewestRun) {
    const StoredRuns stored({step_run("a", 1, 0.1), step_run("b", 1, 0.1)});
    EXPECT_EQ(trace_of(stored.chosen(), 9)["otherData"]["runs"].size(), 1U);
    EXPECT_EQ(trace_of(stored.chosen(), 9)["otherData"]["runs"][0]["run"], "b");
    EXPECT_EQ(trace_of(stored.chosen({"", "sweep", {}, 0}), 9)["otherData"]["runs"].size(), 2U);
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
    const json benchmarks = json::parse(gbench_of({run}))["benchmarks"];
    ASSERT_FALSE(benchmarks.empty());
    for (const auto& one : benchmarks) EXPECT_TRUE(one["real_time"].is_number()) << one;
    std::istringstream lines(extrap_of({run}));
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(json::parse(line)["value"].is_number());
    const json events = trace_of(StoredRuns({run}).chosen(), 100)["traceEvents"];
    for (const auto& event : events) {
        const bool timed = event["ph"] == "X";
        EXPECT_TRUE(!timed || (event["ts"].is_number() && event["dur"].is_number())) << event;
    }
    EXPECT_GT(events.size(), 10U);
}

}  // namespace
}  // namespace ranklab::report::formats
