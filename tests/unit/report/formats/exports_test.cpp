#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "report/formats/formats.hpp"
#include "thrown_sentence.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::formats {
namespace {

using nlohmann::json;
using results::StoredRun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json gbench_of(const StoredRuns& stored) {
    return json::parse(written([&](const model::Sink& sink) { write_gbench(stored.chosen(), sink); }));
}

std::vector<json> entries(const json& parsed, const std::string& name, const std::string& type) {
    std::vector<json> found;
    for (const auto& one : parsed["benchmarks"])
        if (one["run_name"] == name && one["run_type"] == type) found.push_back(one);
    return found;
}

std::vector<json> extrap_of(const StoredRuns& stored, const std::vector<std::string>& keys = {}) {
    std::istringstream lines(
        written([&](const model::Sink& sink) { write_extrap(stored.chosen(), keys, sink); }));
    std::vector<json> values;
    for (std::string line; std::getline(lines, line);) values.push_back(json::parse(line));
    return values;
}

json trace_of(const model::ChosenRuns& runs, std::size_t steps) {
    return json::parse(written([&](const model::Sink& sink) { write_chrome_trace(runs, steps, sink); }));
}

constexpr const char* kStep = "train/mnist-cnn/ddp/flat/ranks:2/batch:32/step_time";

TEST(Streamed, IsTheSameAsOfRunsInMemory) {
    const std::vector<StoredRun> runs{results::sample_run("b"), results::sample_run("a")};
    const StoredRuns stored(runs);
    const auto read = stored.file().read_all(results::Detail::summaries);
    EXPECT_EQ(written([&](const model::Sink& sink) { write_json(stored.chosen(), sink); }), runs_json(read));
    EXPECT_EQ(written([&](const model::Sink& sink) { write_csv(stored.chosen(), sink); }), runs_csv(read));
    const StoredRuns none({step_run("x", 1, 0.1)});
    const auto nothing = none.chosen({"", "no such", {}, 0});
    EXPECT_EQ(written([&](const model::Sink& sink) { write_json(nothing, sink); }), runs_json({}));
}

TEST(Gbench, OfOneRunHasItsRepetitions) {
    const json parsed = gbench_of(StoredRuns({step_run("a", 2, 0.1)}));
    const auto steps = entries(parsed, kStep, "iteration");
    ASSERT_EQ(steps.size(), 8U);
    EXPECT_DOUBLE_EQ(steps[3]["real_time"], 1e6 * 0.1 * 0.99);
    EXPECT_EQ(steps[3]["repetition_index"], 3);
    EXPECT_EQ(steps[3]["repetitions"], 8);
    EXPECT_EQ(steps[3]["time_unit"], "us");
    EXPECT_EQ(steps[3]["label"], "the repetitions of one run");
    EXPECT_DOUBLE_EQ(steps[0]["items_per_second"], 640);
    const auto aggregates = entries(parsed, kStep, "aggregate");
    ASSERT_EQ(aggregates.size(), 4U);
    EXPECT_EQ(aggregates[1]["name"], std::string(kStep) + "_median");
    EXPECT_DOUBLE_EQ(aggregates[1]["real_time"], 1e5);
    // 0.093, 0.095 ... 0.107: variance 0.004 * 42 / 7 / 1000
    EXPECT_NEAR(aggregates[2]["real_time"], 1e6 * std::sqrt(2.4e-5), 1e-6);
    EXPECT_EQ(aggregates[3]["aggregate_unit"], "percentage");
}

TEST(Gbench, OfSeveralRunsHasARepetitionEach) {
    const json parsed =
        gbench_of(StoredRuns({step_run("a", 2, 0.1), step_run("b", 2, 0.2), step_run("c", 4, 0.1)}));
    const auto steps = entries(parsed, kStep, "iteration");
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_DOUBLE_EQ(steps[0]["real_time"], 1e5);
    EXPECT_DOUBLE_EQ(steps[1]["real_time"], 2e5);
    EXPECT_DOUBLE_EQ(steps[1]["items_per_second"], 320);
    EXPECT_EQ(steps[1]["iterations"], 8);
    EXPECT_EQ(steps[1]["label"], "a repetition is a run: its median");
    std::set<std::pair<int, int>> places;
    for (const auto& one : parsed["benchmarks"])
        if (one["run_type"] == "aggregate" && one["aggregate_name"] == "mean")
            places.emplace(one["family_index"], one["per_family_instance_index"]);
    EXPECT_THAT(places, ElementsAre(std::pair(0, 0), std::pair(0, 1), std::pair(1, 0), std::pair(1, 1)));
}

TEST(Gbench, HasGooglesContextAndNoInvalidRun) {
    StoredRun bad = step_run("a", 2, 0.1);
    bad.valid = false;
    bad.context = {{"host", "logical_cpus", "64"},
                   {"host", "governor", "powersave"},
                   {"host", "load_1min", "0.5"},
                   {"build", "type", "Release"}};
    const json parsed = gbench_of(StoredRuns({bad}));
    EXPECT_TRUE(parsed["benchmarks"].empty());
    EXPECT_EQ(parsed["context"]["host_name"], "node01");
    EXPECT_EQ(parsed["context"]["num_cpus"], 64);
    EXPECT_EQ(parsed["context"]["cpu_scaling_enabled"], true);
    EXPECT_EQ(parsed["context"]["load_avg"], json({0.5}));
    EXPECT_EQ(parsed["context"]["library_build_type"], "release");
    bad.context.back().value = "Debug";
    EXPECT_EQ(gbench_of(StoredRuns({bad}))["context"]["library_build_type"], "debug");
    bad.context.pop_back();
    EXPECT_FALSE(gbench_of(StoredRuns({bad}))["context"].contains("library_build_type")) << "nobody knows";
}

TEST(Gbench, BoundsTheRepetitionsOfOneRun) {
    StoredRun run = step_run("a", 2, 0.1);
    run.measurements[0].samples.assign(2500, 0.1);
    run.measurements[0].summary = stats::summarise(run.measurements[0].samples);
    const auto steps = entries(gbench_of(StoredRuns({run})), kStep, "iteration");
    ASSERT_EQ(steps.size(), 834U);  // every third
    EXPECT_EQ(steps[0]["label"], "834 of the 2500 repetitions of one run");
}

TEST(Extrap, HasALineAValue) {
    const auto lines = extrap_of(StoredRuns({step_run("a", 2, 0.1), step_run("b", 4, 0.2)}));
    ASSERT_EQ(lines.size(), 6U);
    EXPECT_EQ(lines[0],
              json::parse(R"({"params":{"p":2.0},"callpath":"train/mnist-cnn/ddp/flat","metric":"time",)"
                          R"("value":0.1})"));
    EXPECT_EQ(lines[1]["callpath"], "train/mnist-cnn/ddp/flat->forward");
    EXPECT_EQ(lines[1]["metric"], "time");
    EXPECT_EQ(lines[2]["metric"], "throughput_samples_per_s");
    EXPECT_EQ(lines[3]["params"]["p"], 4);
}

TEST(Extrap, TakesOtherParametersThatAreNumbers) {
    const StoredRuns stored({step_run("a", 2, 0.1)});
    EXPECT_EQ(extrap_of(stored, {"ranks", "batch-size"})[0]["params"],
              json::parse(R"({"p":2,"batch-size":32})"));
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([&] { extrap_of(stored, {"sync"}); }),
                HasSubstr("run a has sync 'flat', and Extra-P's parameters are numbers"));
}

TEST(Extrap, WarnsOfDifferingMachinesWithinACommandAlone) {
    StoredRun other = step_run("b", 2, 0.1);
    other.git_revision = "fedcba987654";
    StoredRun io = other;
    io.command = "io";
    const auto warned = [](const StoredRun& run) {
        const StoredRuns stored(std::vector<StoredRun>{step_run("a", 2, 0.1), run});
        ::testing::internal::CaptureStderr();
        extrap_of(stored);
        return ::testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(warned(io), "") << "another command is no repetition";
    EXPECT_THAT(warned(other), HasSubstr("these runs differ in git_revision"));
}

TEST(ChromeTrace, SetsStepsAndPhasesOneAfterAnother) {
    StoredRun run = step_run("a", 2, 0.1);
    for (auto& m : run.measurements) {
        if (m.samples.empty()) continue;
        m.columns = 2;  // 4 steps of two ranks
    }
    run.hosts[1].host = "node02";
    const json parsed = trace_of(StoredRuns({run}).chosen(), 3);
    std::vector<json> steps;
    std::set<int> processes;
    for (const auto& event : parsed["traceEvents"]) {
        processes.insert(event["pid"].get<int>());
        if (event["ph"] != "X") continue;
        EXPECT_GE(event["dur"].get<double>(), 0);
        if (event["cat"] == "step" && event["tid"] == 1) steps.push_back(event);
    }
    EXPECT_EQ(processes.size(), 2U);  // a host each
    ASSERT_EQ(steps.size(), 3U);      // of 4
    EXPECT_DOUBLE_EQ(steps[0]["ts"], 0);
    EXPECT_NEAR(steps[0]["dur"], 95e3, 1e-6);  // the second sample of the first row
    EXPECT_NEAR(steps[1]["ts"], 95e3, 1e-6);
    EXPECT_EQ(parsed["otherData"]["runs"][0]["drawn"], 3);
    EXPECT_EQ(parsed["otherData"]["runs"][0]["stored"], 4);
    EXPECT_THAT(parsed["otherData"]["phase_order"].get<std::string>(), HasSubstr("nominal"));
}

TEST(ChromeTrace, KeepsPhasesInsideTheirStep) {
    StoredRun run = step_run("a", 1, 0.1);
    for (double& sample : run.measurements[1].samples) sample *= 10;  // clocks that disagree
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

TEST(ChromeTrace, OfEverythingIsTheNewestRun) {
    const StoredRuns stored({step_run("a", 1, 0.1), step_run("b", 1, 0.1)});
    EXPECT_EQ(trace_of(stored.chosen(), 9)["otherData"]["runs"].size(), 1U);
    EXPECT_EQ(trace_of(stored.chosen(), 9)["otherData"]["runs"][0]["run"], "b");
    EXPECT_EQ(trace_of(stored.chosen({"", "sweep", {}, 0}), 9)["otherData"]["runs"].size(), 2U);
}

TEST(ChromeTrace, SaysWhichRunsItLeavesOut) {
    StoredRun all = step_run("a", 2, 0.1), ranks = step_run("b", 2, 0.1), none = step_run("c", 2, 0.1);
    StoredRun alone = step_run("d", 1, 0.1), comparison = step_run("e", 2, 0.1);
    for (auto* run : {&ranks, &alone}) run->config.push_back({"keep-samples", "ranks", false});
    none.config.push_back({"keep-samples", "summary", false});
    comparison.measurements.clear();
    const StoredRuns stored({all, ranks, none, alone, comparison});
    std::vector<std::string> left_out;
    const json parsed = json::parse(written([&](const model::Sink& sink) {
        left_out = write_chrome_trace(stored.chosen({"", "sweep", {}, 0}), 9, sink);
    }));
    EXPECT_THAT(left_out,
                ElementsAre("run b is not drawn: this run kept a summary of each rank and no samples of it "
                            "(--keep-samples ranks)",
                            "run c is not drawn: this run kept nothing of each rank (--keep-samples summary)",
                            "run e is not drawn: it has no times of steps or repetitions"));
    std::set<std::string> drawn;
    for (const auto& run : parsed["otherData"]["runs"])
        if (run["drawn"] > 0) drawn.insert(run["run"]);
    EXPECT_EQ(drawn, (std::set<std::string>{"a", "d"})) << "one rank's are its own";
}

// argv may hold any bytes, and a failed measurement any number.
TEST(EveryJson, IsValidWhateverTheTextsAndNumbers) {
    StoredRun run = step_run("a", 2, 0.1);
    run.label = "\x01\x7f\"\\ \xff\xc3 \xed\xa0\x80 end";
    run.argv = run.label;
    run.config[0].value = run.label;
    run.warnings = {run.label};
    run.measurements[0].samples[2] = NAN;
    run.measurements[1].samples[3] = INFINITY;
    run.measurements[1].summary.median = INFINITY;
    run.measurements[2].summary.median = NAN;
    const StoredRuns stored({run});
    const json parsed =
        json::parse(written([&](const model::Sink& sink) { write_json(stored.chosen(), sink); }));
    EXPECT_TRUE(parsed["runs"][0]["measurements"][1]["median"].is_null());
    EXPECT_THAT(parsed["runs"][0]["label"].get<std::string>(), HasSubstr("\xEF\xBF\xBD"));
    const json benchmarks = gbench_of(stored)["benchmarks"];
    ASSERT_FALSE(benchmarks.empty());
    for (const auto& one : benchmarks) EXPECT_TRUE(one["real_time"].is_number()) << one;
    for (const auto& line : extrap_of(stored)) EXPECT_TRUE(line["value"].is_number()) << line;
    const json events = trace_of(stored.chosen(), 100)["traceEvents"];
    for (const auto& event : events) {
        const bool timed = event["ph"] == "X";
        EXPECT_TRUE(!timed || (event["ts"].is_number() && event["dur"].is_number())) << event;
    }
    EXPECT_GT(events.size(), 10U);
}

}  // namespace
}  // namespace ranklab::report::formats
