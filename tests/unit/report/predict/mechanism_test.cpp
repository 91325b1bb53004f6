#include "report/predict/mechanism.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "report/predict/curve.hpp"
#include "unit/report/comm_runs_sample.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::report::predict {
namespace {

using results::Measurement;
using results::StoredRun;
using Why = Refusal::Why;

constexpr double kForward = 0.01, kBackward = 0.03, kOptimizer = 0.01, kStep = 0.06;
constexpr int kLayers = 4;
constexpr double kBytes = 2 << 20;  // of each layer

Measurement phase(const std::string& name, std::size_t ranks, double s) {
    Measurement m{name, "s", results::Kind::cost, "max", "step", ranks, {}, {}, {}};
    m.samples.assign(8 * ranks, s);
    m.summary = stats::summarise(std::vector<double>(8, s));
    return m;
}

StoredRun training(const std::string& id, std::size_t ranks, const std::string& sync,
                   double sync_s = 0, double batch = 64) {
    StoredRun run;
    run.id = run.started_utc = id;
    run.command = "train";
    run.argv = "ranklab train --model mnist-cnn";
    run.config = {{"model", "mnist-cnn"},
                  {"output", "r.h5"},
                  {"mode", ranks > 1 ? "ddp" : "single"},
                  {"sync", sync},
                  {"backend", "mpi"},
                  {"precision", "fp32"},
                  {"mpi-progress", "none"},
                  {"transfer", "blocking"},
                  {"batch-size", std::to_string(static_cast<int>(batch)), true},
                  {"global-batch-size",
                   std::to_string(static_cast<int>(batch) * static_cast<int>(ranks)), true}};
    for (std::size_t rank = 0; rank < ranks; ++rank)
        run.hosts.push_back({static_cast<int>(rank), static_cast<int>(rank), "node01", "0", "cpu"});
    run.measurements = {
        phase("step_time_s", ranks, kStep + sync_s), phase("forward_time_s", ranks, kForward),
        phase("backward_time_s", ranks, kBackward), phase("optimizer_time_s", ranks, kOptimizer),
        phase("sync_exposed_time_s", ranks, sync_s)};
    return run;
}

// The profile makes the run twice as slow, its layers included.
StoredRun profiled() {
    StoredRun run = training("3", 1, "none");
    results::Rows layers("layers");
    for (int i = 0; i < kLayers; ++i)
        layers.add({std::to_string(i), std::int64_t{1}, 0.01, 0.015, 50.0, 0.015 * (kLayers - i),
                    std::int64_t{1}, 1.0, 1.0, static_cast<std::int64_t>(kBytes), std::int64_t{1}});
    run.tables.push_back(std::move(layers).table());
    for (auto& m : run.measurements) m.summary.median *= 2;
    return run;
}

StoredRun with_hosts(StoredRun run, std::size_t per_host) {
    for (std::size_t rank = 0; rank < run.hosts.size(); ++rank)
        run.hosts[rank].host = "node" + std::to_string(rank / per_host);
    return run;
}

// Latency 10 us, 1 GB/s; in the background 256 KiB take 0.3 ms and a tenth of the computing.
StoredRun comm(std::size_t per_host, std::int64_t ranks = 2) {
    auto run = with_hosts(comm_run({{.ranks = ranks, .alpha_us = 10, .GBps = 1.1}}), per_host);
    run.started_utc = "1";
    results::Rows rows("nonblocking");
    for (const std::int64_t bytes : {1024, 262144})
        rows.add({std::string("allreduce"), std::string("job"), std::string("fp32"),
                  std::string("sum"), ranks, bytes, std::string("poll"), std::int64_t{20}, 330.0,
                  300.0, 300.0, 90.0, 85.0, 95.0, std::string()});
    run.tables.push_back(std::move(rows).table());
    return run;
}

MechanismForecast forecast(const std::vector<StoredRun>& runs, const WhatIf& what_if,
                           std::size_t ranks = 2, bool force = false) {
    const std::size_t only[] = {ranks};
    return mechanism_forecast(runs, what_if, only, force).front();
}

// A call in place takes a tenth more.
double blocking_s(double bytes) {
    return 1.1 * (10e-6 + bytes / 1.1e9);
}

std::vector<StoredRun> all_runs() {
    return {comm(1), training("2", 1, "none"), profiled(), training("4", 2, "flat", 0.01)};
}

// Buckets overlap with backward and take a tenth of the computing, except for the last one.
constexpr double in_buckets(double hidden_layers, double last_layers) {
    constexpr double kLayer = kBytes / (256 << 10) * 300e-6;  // in pieces
    return kStep + 0.1 * hidden_layers * kLayer + last_layers * kLayer;
}

TEST(Mechanism, ThousandsOfRanks) {
    auto runs = all_runs();
    for (auto& m : runs.back().measurements) m.samples.resize(4096, m.samples.front());
    const auto found = forecast(runs, {.ranks_per_node = 1, .sync = "flat"}, 4096, true);
    constexpr double kBytesOfAll = kLayers * kBytes, kOthers = 4095;
    EXPECT_EQ(found.algorithm, forecast::Algorithm::ring);
    EXPECT_NEAR(found.step_s,
                kStep + 1.1 * (kOthers * 10e-6 + 2 * kOthers / 4096 * kBytesOfAll / 1.1e9), 1e-9);
}

TEST(Mechanism, IsTheClosedFormOfItsParts) {
    const struct {
        const char* what;
        WhatIf what_if;
        double step_s;
    } cases[] = {
        {"flat", {.ranks_per_node = 1, .sync = "flat"}, kStep + blocking_s(kLayers * kBytes)},
        {"none", {.ranks_per_node = 1, .sync = "none"}, kStep},
        {"micro-batches",
         {.accumulate = 4, .ranks_per_node = 1, .sync = "none"},
         4 * (kStep - kOptimizer) + kOptimizer},
        {"each layer",
         {.ranks_per_node = 1, .bucket_cap_mb = 2, .sync = "bucketed"},
         in_buckets(3, 1)},
        {"the first, and a bucket",
         {.ranks_per_node = 1, .bucket_cap_mb = 100, .sync = "bucketed"},
         in_buckets(1, 3)},
    };
    for (const auto& one : cases) {
        const auto found = forecast(all_runs(), one.what_if);
        EXPECT_EQ(found.refusal.why, Why::none) << one.what << sentence(found.refusal);
        EXPECT_NEAR(found.step_s, one.step_s, 1e-9 * one.step_s) << one.what;
        EXPECT_LE(found.range.low, found.step_s) << one.what;
        EXPECT_GE(found.range.high, found.step_s) << one.what;
    }
}

TEST(Mechanism, KeepsPrecisionsApart) {
    auto runs = all_runs();
    runs.push_back(training("9", 1, "none"));
    runs.back().config[5] = {"precision", "bf16"};
    for (auto& m : runs.back().measurements) m.summary.median /= 2;
    EXPECT_NEAR(forecast(runs, {}, 1).step_s, kStep, 1e-9);
}

TEST(Mechanism, OptionsOfASamplesWorkKeepRunsApart) {
    const auto usual = training("1", 1, "none");
    for (const auto* const key :
         {"rotate", "rotate-vectors", "volume-access", "cudnn-benchmark", "inject-delay", "loss",
          "classes", "target-shape", "full-scale", "compress"}) {
        auto other = usual;
        other.config.push_back({key, "other"});
        EXPECT_FALSE(is_same_work(usual, other)) << key;
    }
    for (const auto* const key : {"lr", "profile", "global-batch-size", "label", "evaluate"}) {
        auto other = usual;
        other.config.push_back({key, "other"});
        EXPECT_TRUE(is_same_work(usual, other)) << key;
    }
    auto flag_unset = usual;
    flag_unset.config.push_back({"rotate-vectors", "false"});
    EXPECT_TRUE(is_same_work(usual, flag_unset));
}

TEST(Mechanism, BackgroundOnOneHostTakesWhatItTookThere) {
    auto two = training("4", 2, "bucketed", in_buckets(1, 3) - kStep);
    for (auto& setting : two.config) {
        if (setting.key == "transfer") setting.value = "background";
        if (setting.key == "mpi-progress") setting.value = "poll";
    }
    const std::vector<StoredRun> runs{comm(2), training("2", 1, "none"), profiled(), two};
    EXPECT_NEAR(forecast(runs, {.bucket_cap_mb = 2}).step_s, in_buckets(3, 1), 1e-9);
}

std::vector<StoredRun> with_measured(double measured_s, std::size_t runs = 1) {
    std::vector<StoredRun> all{comm(2), training("2", 1, "none"), profiled()};
    for (std::size_t i = 0; i < runs; ++i)
        all.push_back(training(std::to_string(4 + i), 2, "flat",
                               measured_s - kStep + 0.002 * static_cast<double>(i)));
    return all;
}

// Whatever the simulation leaves out, at a measured number of ranks the forecast is what was
// measured, and its range has all runs.
TEST(Mechanism, ForecastsWhatWasMeasured) {
    for (const double measured_s : {0.045, 0.06 + blocking_s(kLayers * kBytes), 0.08, 0.13})
        for (const std::size_t runs : {1, 3}) {
            const auto found = forecast(with_measured(measured_s, runs), {});
            ASSERT_EQ(found.refusal.why, Why::none) << measured_s;
            EXPECT_NEAR(found.step_s, measured_s + 0.001 * base::real(runs - 1), 1e-4);
            EXPECT_LE(found.range.low, measured_s + 1e-9);
            EXPECT_GE(found.range.high, measured_s + 0.002 * base::real(runs - 1) - 1e-9);
            EXPECT_NE(found.held.find("2 ranks"), std::string::npos) << found.held;
        }
}

TEST(Mechanism, WidensWhereNoRunIsHeldAgainstIt) {
    const auto right = with_measured(kStep + blocking_s(kLayers * kBytes)),
               wrong = with_measured(0.08);
    const double miss = 0.08 / (kStep + blocking_s(kLayers * kBytes));
    const auto at_four = forecast(right, {.ranks_per_node = 4}, 4),
               wider = forecast(wrong, {.ranks_per_node = 4}, 4);
    EXPECT_NEAR(wider.step_s, miss * at_four.step_s, 1e-9);
    EXPECT_NEAR(wider.range.low, at_four.range.low, 1e-9);
    EXPECT_NEAR(wider.range.high, miss * miss * at_four.range.high, 1e-9);
    EXPECT_NEAR(forecast(wrong, {}, 1).range.high, forecast(right, {}, 1).range.high, 1e-9);
    EXPECT_EQ(forecast(all_runs(), {.ranks_per_node = 1}).held.substr(0, 6), "no run");
}

TEST(Mechanism, RefusesWhatItsRunsContradict) {
    for (const double measured_s : {0.03, 0.2}) {
        const auto found = forecast(with_measured(measured_s), {});
        EXPECT_EQ(found.refusal.why, Why::misses_its_runs) << measured_s;
        EXPECT_NE(found.refusal.command.find("run 4 of 2 ranks"), std::string::npos);
        EXPECT_FALSE(std::isfinite(found.step_s));
        EXPECT_TRUE(std::isfinite(forecast(with_measured(measured_s), {}, 2, true).step_s));
    }
}

TEST(Mechanism, RefusesAndNamesTheRunThatWouldMendIt) {
    const auto one = training("2", 1, "none"), two = training("4", 2, "flat", 0.01);
    const auto all = all_runs();
    const struct {
        std::vector<StoredRun> runs;
        WhatIf what_if;
        std::size_t ranks;
        Why why;
        const char* command;
    } cases[] = {
        {{one, two}, {}, 2, Why::no_layers, "ranklab train --model mnist-cnn --profile layers"},
        {{one, profiled(), two},
         {.ranks_per_node = 1},
         2,
         Why::level_not_crossed,
         "mpirun -n 2 --map-by ppr:1:node ranklab comm -e 8M --output r.h5"},
        {{one, profiled(), two},
         {},
         2,
         Why::level_not_crossed,
         "mpirun -n 2 --map-by ppr:2:node ranklab comm -e 8M --output r.h5"},
        {all,
         {.ranks_per_node = 1},
         129,
         Why::too_far,
         "mpirun -n 3 ranklab train --model mnist-cnn --batch-size 64"},
        {all,
         {.ranks_per_node = 1},
         17,
         Why::few_samples,
         "mpirun -n 2 ranklab train --model mnist-cnn --batch-size 64 --steps 9"},
        {all,
         {.strong = true, .ranks_per_node = 1},
         4,
         Why::batch_not_measured,
         "ranklab train --model mnist-cnn --batch-size 16"},
        {all,
         {.precision = "bf16"},
         2,
         Why::no_layers,
         "ranklab train --model mnist-cnn --profile layers --precision bf16"},
    };
    for (const auto& [runs, what_if, ranks, why, command] : cases) {
        const auto found = forecast(runs, what_if, ranks);
        EXPECT_EQ(found.refusal.why, why) << command;
        EXPECT_EQ(found.refusal.command, command);
        EXPECT_TRUE(std::isnan(found.step_s)) << command;
    }
    EXPECT_EQ(forecast(all, {.ranks_per_node = 1, .sync = "flat"}, 16).algorithm,
              forecast::Algorithm::ring);
}

// Whoever shows a run's number shows its doubts, each run's once.
TEST(Mechanism, SaysWhatMakesItsRunsDoubtful) {
    auto runs = all_runs();
    EXPECT_EQ(forecast(runs, {.ranks_per_node = 1}).notes.size(), 2U)
        << "the load was not measured in two runs";
    for (auto& run : runs) run.context.push_back({"place", "quiet", "yes"});
    EXPECT_TRUE(forecast(runs, {.ranks_per_node = 1}).notes.empty());
    runs.back().context.back().value = "no";
    const std::vector disturbed{forecast(runs, {.ranks_per_node = 1})};
    EXPECT_EQ(disturbed.front().notes.size(), 1U);
    const auto json = json_of({.frame = frame_of(disturbed)});
    for (const char* text :
         {"run 4: load by other processes", R"("why":"none")", R"("batch_size")"})
        EXPECT_NE(json.find(text), std::string::npos) << json;
    EXPECT_EQ(frame_of(disturbed).rows.front().caveats.size(), 2U)
        << "and what it was held against";
}

}  // namespace
}  // namespace ranklab::report::predict
