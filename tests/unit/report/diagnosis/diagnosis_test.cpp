#include "report/diagnosis/diagnosis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/error.hpp"

namespace ranklab::report::diagnosis {
namespace {

using forecast::Bound;
using Parts = std::map<std::string, std::vector<double>>;  // of each rank, in all steps

constexpr std::size_t kSteps = 40;

results::Run run_of(const Parts& parts, std::vector<results::Setting> settings = {},
                    std::vector<results::HostRow> hosts = {{0, 0, "n1", "0", "cpu", 1, "0"},
                                                           {1, 1, "n1", "1", "cpu", 1, "1"}}) {
    results::Run run;
    run.id = "a";
    run.command = "train";
    run.duration_s = 10;
    run.hosts = std::move(hosts);
    run.config = {{"mode", "ddp", false},
                  {"sync", "bucketed", false},
                  {"batch-size", "32", true},
                  {"workers", "0", true},
                  {"steps", "40", true}};
    for (const auto& one : settings)
        for (auto& setting : run.config)
            if (setting.key == one.key) setting = one;
    run.context = {{"host", "logical_cpus", "4"}};
    for (const auto& [name, of_ranks] : parts) {
        results::Measurement m{name, "s", results::Kind::cost, "max", "step", of_ranks.size(), {},
                               {},   {}};
        for (std::size_t step = 0; step < kSteps; ++step)
            for (const double seconds : of_ranks)
                m.samples.push_back(seconds * (1 + 0.01 * static_cast<double>(step % 3)));
        m.summary = stats::summarise(m.largest_of_rows());
        run.measurements.push_back(std::move(m));
    }
    return run;
}

std::vector<results::HostRow> one_rank(int threads, const std::string& cores) {
    return {{0, 0, "n1", cores, "cpu", threads, cores}};
}

std::vector<results::HostRow> two_hosts() {
    return {{0, 0, "n1", "0", "cpu", 1, "0"}, {1, 0, "n2", "0", "cpu", 1, "0"}};
}

results::Run with_fact(results::Run run, const char* key, const char* value) {
    run.context.push_back({"place", key, value});
    return run;
}

struct Case {
    const char* name;
    results::Run run;
    Bound bound;
    Cause cause;
    std::string option = {};  ///< first advice
    double gain = 0;          ///< percent
};

std::vector<Case> cases() {
    const Parts loading{{"step_time_s", {4}}, {"data_time_s", {3}}, {"loader_decode_time_s", {3}}};
    const Parts reading{{"step_time_s", {4}}, {"data_time_s", {3}}, {"loader_read_time_s", {3}}};
    const Parts slow{{"step_time_s", {3, 3}}, {"sync_exposed_time_s", {2, 0}}};
    const Parts sends{{"step_time_s", {4, 4}}, {"sync_exposed_time_s", {2, 2}}};
    const Parts small{{"step_time_s", {4}}, {"optimizer_time_s", {2}}};
    const Parts computes{{"step_time_s", {4, 4}}, {"sync_exposed_time_s", {0.1, 0.1}}};
    auto shared = one_rank(1, "0-1");
    shared.resize(4, shared.front());
    const Parts crowded{{"step_time_s", {4, 4, 4, 4}}, {"sync_exposed_time_s", {2, 1, 0, 1}}};
    return {
        {"one core for both", run_of(loading, {}, one_rank(1, "0")), Bound::input,
         Cause::costly_loader},
        // (3 + 1) / 2 cores
        {"a core to spare", run_of(loading, {}, one_rank(1, "0-1")), Bound::input,
         Cause::costly_loader, "--workers 2", 50},
        // Reading takes no core: 1 is what computing takes.
        {"slow reading", run_of(reading, {}, one_rank(1, "0")), Bound::input, Cause::slow_input,
         "--workers 3", 75},
        {"a slow rank", run_of(slow), Bound::imbalance, Cause::late_rank, "mpirun --bind-to none",
         100 / 3.0},
        {"others", with_fact(run_of(slow), "quiet", "no"), Bound::imbalance, Cause::other_load,
         "mpirun --bind-to none", 100 / 3.0},
        // 2 of 4 do not depend on the batch: 16 times as many samples in 16 x 2 + 2.
        {"a slow link", run_of(sends, {}, two_hosts()), Bound::communication, Cause::transfer,
         "--batch-size 512", 100 * 15 / 32.0},
        {"a small batch", run_of(small, {}, one_rank(1, "0")), Bound::compute, Cause::small_batch,
         "--batch-size 512", 100 * 15 / 32.0},
        {"threads",
         run_of(computes, {}, {{0, 0, "n1", "0", "cpu", 2, "0"}, {1, 1, "n1", "1", "cpu", 2, "1"}}),
         Bound::compute, Cause::threads_on_cores, "mpirun --map-by slot:PE=2 --bind-to core",
         50 * 3.9 / 4},
        {"ranks", run_of(crowded, {}, shared), Bound::compute, Cause::ranks_on_cores, "mpirun -n 2",
         25},
        {"cores to spare",
         run_of(computes, {},
                {{0, 0, "n1", "0-1", "cpu", 1, "0-1"}, {1, 1, "n1", "2-3", "cpu", 1, "2-3"}}),
         Bound::compute, Cause::none, "--threads 2", 50 * 3.9 / 4},
        {"healthy", run_of(computes), Bound::compute, Cause::none},
        {"waits hidden in backward", run_of(computes, {{"sync", "c10d", false}}), Bound::unknown,
         Cause::not_measured, "--ablation", stats::kNone},
    };
}

TEST(Diagnosis, NamesTheCauseAndWhatToTry) {
    for (const auto& one : cases()) {
        SCOPED_TRACE(one.name);
        const Diagnosis found = diagnose(one.run);
        EXPECT_EQ(found.reason.bound, one.bound) << sentence(found.reason);
        EXPECT_EQ(found.reason.cause, one.cause) << sentence(found.reason);
        ASSERT_EQ(found.advice.empty(), one.option.empty()) << text_of(found);
        if (found.advice.empty()) continue;
        const auto& first = found.advice.front();
        EXPECT_EQ(option_of(first.remedy, first.value), one.option);
        if (std::isnan(one.gain)) continue;
        EXPECT_NEAR(first.gain.number, one.gain, 0.01);
        EXPECT_TRUE(first.in_part || first.gain.interval.low > 0);
        EXPECT_LE(first.gain.number, first.gain.interval.high + 1e-9);
    }
}

TEST(Diagnosis, HdfReadsForOneThreadAtATime) {
    const Parts parts{{"step_time_s", {4}}, {"data_time_s", {2}}, {"loader_read_time_s", {2}}};
    auto run = run_of(parts, {}, one_rank(1, "0"));
    run.config.push_back({"data", "hdf5", false});
    const auto found = diagnose(run);
    ASSERT_FALSE(found.advice.empty());
    EXPECT_EQ(found.advice.front().value, "1");
    EXPECT_NEAR(found.advice.front().gain.number, 50, 0.01);
}

TEST(Diagnosis, TakesWhatMayHelpTheNetworkWhereThatLimits) {
    const std::vector<Advice> cap{{Remedy::bucket_cap, "5", Cell(60.0)}};
    for (const auto& one : cases()) {
        const auto found = diagnose(one.run, cap);
        const bool first = !found.advice.empty() && found.advice[0].remedy == Remedy::bucket_cap;
        EXPECT_EQ(first, one.bound == Bound::communication) << one.name;
    }
}

// The start of a few steps says nothing; that of a training does.
TEST(Diagnosis, AStartThatTakesMostOfATraining) {
    auto run = run_of({{"step_time_s", {1}}, {"time_to_first_step_s", {6}}}, {}, one_rank(1, "0"));
    EXPECT_EQ(diagnose(run).reason.bound, Bound::compute);
    std::erase_if(run.config, [](const auto& setting) { return setting.key == "steps"; });
    EXPECT_EQ(diagnose(run).reason.bound, Bound::start_up);
}

TEST(Diagnosis, OfTrials) {
    auto run = run_of({}, {{"workers", "1", true}}, one_rank(1, "0-1"));
    results::Rows trials("ablation"), parts("waterfall");
    trials.add({std::string("io"), std::int64_t{3}, std::int64_t{9}, 1.0, 0.0, 3.0});
    for (const auto& [part, seconds] : {std::pair("compute", 1.0), {"input", 2.0}, {"rest", -0.1}})
        parts.add({std::string(part), seconds, 0.0, 0.0, 0.0});
    run.tables = {std::move(trials).table(), std::move(parts).table()};
    const auto found = diagnose(run);
    EXPECT_EQ(found.reason.bound, Bound::input);
    EXPECT_DOUBLE_EQ(found.found.step_s(), 3);
    ASSERT_FALSE(found.advice.empty());
    EXPECT_NEAR(found.advice.front().gain.number, 100 / 3.0, 0.01) << "(1 + 3) / 2 cores";
    EXPECT_TRUE(std::isnan(found.advice.front().gain.interval.low));
}

TEST(Diagnosis, IsOfTrainingAlone) {
    results::Run run;
    run.command = "io";
    EXPECT_THROW(diagnose(run), base::OptionError);
}

TEST(Diagnosis, JsonHasAllOfIt) {
    const std::string json = json_of(diagnose(cases()[1].run));
    for (const char* member :
         {"\"bound\":\"input\"", "\"cause\":\"costly_loader\"", "\"option\":\"--workers 2\"",
          "\"gain_percent_low\":", "\"efficiency_high\":", "\"start_up_s\":null"})
        EXPECT_NE(json.find(member), std::string::npos) << member << " in " << json;
    EXPECT_NE(html_of(diagnose(cases()[1].run)).find("<table>"), std::string::npos);
}

}  // namespace
}  // namespace ranklab::report::diagnosis
