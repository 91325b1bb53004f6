#include "report/formats/formats.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/results/sample_run.hpp"

namespace ranklab::report::formats {
namespace {

using nlohmann::json;
using results::sample_run;
using results::StoredRun;

void expect_number(const json& value, double expected, const std::string& what) {
    if (std::isnan(expected))
        EXPECT_TRUE(value.is_null()) << what;
    else
        EXPECT_EQ(value.get<double>(), expected) << what;
}

TEST(RunsJson, OfNoRuns) {
    EXPECT_EQ(json::parse(runs_json({})), json::parse(R"({"schema":1,"runs":[]})"));
}

TEST(RunsJson, KeepsTheOrder) {
    const json parsed = json::parse(runs_json({sample_run("b"), sample_run("a")}));
    EXPECT_EQ(parsed["schema"], 1);
    EXPECT_EQ(parsed["runs"][0]["id"], "b");
    EXPECT_EQ(parsed["runs"][1]["id"], "a");
}

TEST(RunsJson, HasEveryFieldOfARun) {
    const StoredRun run = sample_run();
    const json parsed = json::parse(runs_json({run}))["runs"][0];
    EXPECT_EQ(parsed["command"], "train");
    EXPECT_EQ(parsed["label"], run.label);
    EXPECT_EQ(parsed["argv"], run.argv);
    EXPECT_EQ(parsed["valid"], true);
    EXPECT_EQ(parsed["exit_code"], 0);
    EXPECT_EQ(parsed["started_utc"], run.started_utc);
    EXPECT_EQ(parsed["duration_s"], 12.25);
    EXPECT_EQ(parsed["git_revision"], run.git_revision);
    EXPECT_EQ(parsed["config"]["batch-size"], 32);
    EXPECT_EQ(parsed["config"]["lr"], 0.7);
    EXPECT_EQ(parsed["config"]["mode"], "ddp");
    EXPECT_TRUE(parsed["config"]["target-ci"].is_null());
    EXPECT_EQ(parsed["context"]["host"]["kernel"], "6.1");
    EXPECT_EQ(parsed["warnings"], json(run.warnings));
    EXPECT_EQ(parsed["hosts"][1],
              json::parse(R"({"rank":1,"local_rank":1,"host":"node01","cpus":"4-7","device":"cpu"})"));
}

TEST(RunsJson, HasEveryNumberOfAMeasurementExactly) {
    StoredRun run = sample_run();
    run.measurements.push_back(
        results::one_value("third", "s", results::Kind::cost, {1.0 / 3, 2e-308, 1e300}));
    const json parsed = json::parse(runs_json({run}))["runs"][0]["measurements"];
    ASSERT_EQ(parsed.size(), run.measurements.size());
    for (std::size_t i = 0; i < parsed.size(); ++i) {
        const auto& m = run.measurements[i];
        const auto& s = m.summary;
        EXPECT_EQ(parsed[i]["name"], m.name);
        EXPECT_EQ(parsed[i]["unit"], m.unit);
        EXPECT_EQ(parsed[i]["kind"], results::kind_name(m.kind));
        EXPECT_EQ(parsed[i]["n"], s.n);
        expect_number(parsed[i]["median"], s.median, m.name);
        expect_number(parsed[i]["mean"], s.mean, m.name);
        expect_number(parsed[i]["min"], s.min, m.name);
        expect_number(parsed[i]["max"], s.max, m.name);
        expect_number(parsed[i]["p95"], s.p95, m.name);
        expect_number(parsed[i]["p99"], s.p99, m.name);
        expect_number(parsed[i]["ci95_low"], s.ci95.low, m.name);
        expect_number(parsed[i]["ci95_high"], s.ci95.high, m.name);
        EXPECT_FALSE(parsed[i].contains("samples"));
    }
}

TEST(RunsJson, WritesTablesByColumn) {
    const json tables = json::parse(runs_json({sample_run()}))["runs"][0]["tables"];
    EXPECT_EQ(tables["epochs"], json::parse(R"({"epoch":[1,2],"loss":[0.5,null],"note":["","größer"]})"));
}

TEST(RunsJson, OfAnEmptyRunAndOddBytesIsJson) {
    StoredRun run;
    run.label = "\xff\x01\"";
    const json parsed = json::parse(runs_json({run}))["runs"][0];
    EXPECT_EQ(parsed["config"], json::object());
    EXPECT_EQ(parsed["measurements"], json::array());
    EXPECT_EQ(parsed["tables"], json::object());
}

}  // namespace
}  // namespace ranklab::report::formats
