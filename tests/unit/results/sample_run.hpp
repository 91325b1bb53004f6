// A run with something in every field, and a folder to store it in, for the tests of results/ and
// report/.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "results/run.hpp"
#include "temp_folder.hpp"

namespace ranklab::results {

/// Inside TEST(...) `Run` names a method of GoogleTest.
using StoredRun = Run;

using tests::TempFolder;

inline std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

inline Measurement step_time(std::size_t steps, std::size_t ranks) {
    Measurement m{"step_time_s", "s", Kind::cost, "max", "step", ranks, {}, {}, {}};
    std::vector<double> longest;
    for (std::size_t step = 0; step < steps; ++step) {
        for (std::size_t rank = 0; rank < ranks; ++rank)
            m.samples.push_back(0.01 + 1e-4 * static_cast<double>(step) +
                                1e-5 * static_cast<double>(rank));
        longest.push_back(m.samples.back());
    }
    m.warmup.assign(2 * ranks, 0.5);
    m.summary = stats::summarise(longest);
    return m;
}

inline Measurement one_value(const std::string& name, const std::string& unit, Kind kind,
                             std::vector<double> samples) {
    Measurement m{name, unit, kind, "none", "run", 1, std::move(samples), {}, {}};
    m.summary = stats::summarise(m.samples);
    return m;
}

inline Measurement throughput(double median, double low, double high, std::size_t n = 20) {
    Measurement m{
        "throughput_samples_per_s", "samples/s", Kind::rate, "sum", "step", 1, {}, {}, {}};
    m.summary.n = n;
    m.summary.median = m.summary.mean = median;
    m.summary.ci95 = {low, high};
    return m;
}

/// Two ranks on one host, 20 steps.
inline Run sample_run(const std::string& id = "20261121T101500Z-3f9a1c") {
    Run run;
    run.id = id;
    run.command = "train";
    run.argv = "ranklab-train --label 'süß \"x\", y'";
    run.label = "süß \"x\", y";
    run.started_utc = "2026-11-21T10:15:00Z";
    run.duration_s = 12.25;
    run.version = "0.1.0";
    run.git_revision = "0123abc-dirty";
    run.config = {
        {"batch-size", "32", true}, {"lr", "0.7", true},        {"mode", "ddp", false},
        {"threads", "2", true},     {"target-ci", "nan", true}, {"label", "", false},
        {"ops", "ranklab", false},  {"zero", "0", true},        {"prefetch-blocks", "1", true}};
    run.context = {
        {"mpi", "library", "Open MPI 4.1.4"}, {"host", "kernel", "6.1"}, {"host", "empty", ""}};
    run.warnings = {"2 ranks share a core: bind them to different ones"};
    run.hosts = {{0, 0, "node01", "0-3", "cpu"}, {1, 1, "node01", "4-7", "cpu"}};
    run.measurements = {step_time(20, 2), throughput(3200, 3100, 3250),
                        one_value("peak_rss_bytes", "B", Kind::cost, {1073741824.0}),
                        one_value("validation_accuracy", "1", Kind::ratio, {0.81, 0.8912}),
                        one_value("train_loss", "1", Kind::ratio, {NAN, 0.25})};
    run.tables = {{"epochs",
                   {{"epoch", std::vector<std::int64_t>{1, 2}},
                    {"loss", std::vector<double>{0.5, NAN}},
                    {"note", std::vector<std::string>{"", "größer"}}}},
                  {"verification",
                   {{"check", std::vector<std::string>{"parameters equal"}},
                    {"result", std::vector<std::string>{"ok"}}}}};
    return run;
}

inline bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

inline void expect_same(const std::vector<double>& a, const std::vector<double>& b,
                        const std::string& what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same(a[i], b[i])) << what << " at " << i;
}

inline void expect_same(const Measurement& a, const Measurement& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.unit, b.unit);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.rank_reduction, b.rank_reduction);
    EXPECT_EQ(a.axis, b.axis);
    EXPECT_EQ(a.columns, b.columns);
    expect_same(a.samples, b.samples, a.name);
    expect_same(a.warmup, b.warmup, a.name);
    EXPECT_EQ(a.summary.n, b.summary.n);
    const auto numbers = [](const stats::Summary& s) {
        return std::vector<double>{s.median, s.mean, s.min,      s.max,
                                   s.p95,    s.p99,  s.ci95.low, s.ci95.high};
    };
    expect_same(numbers(a.summary), numbers(b.summary), a.name);
}

inline void expect_same(const Table& a, const Table& b) {
    EXPECT_EQ(a.name, b.name);
    ASSERT_EQ(a.columns.size(), b.columns.size());
    for (std::size_t i = 0; i < a.columns.size(); ++i) {
        EXPECT_EQ(a.columns[i].name, b.columns[i].name);
        ASSERT_EQ(a.columns[i].values.index(), b.columns[i].values.index());
        if (const auto* doubles = std::get_if<std::vector<double>>(&a.columns[i].values)) {
            expect_same(*doubles, std::get<std::vector<double>>(b.columns[i].values),
                        a.columns[i].name);
        } else {
            EXPECT_EQ(a.columns[i].values, b.columns[i].values);
        }
    }
}

template <class T>
void expect_all_same(const std::vector<T>& a, const std::vector<T>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i]);
}

inline void expect_same(const Setting& a, const Setting& b) {
    EXPECT_EQ(a.key, b.key);
    EXPECT_EQ(a.value, b.value);
    EXPECT_EQ(a.number, b.number);
}

inline void expect_same(const Fact& a, const Fact& b) {
    EXPECT_EQ(a.section, b.section);
    EXPECT_EQ(a.key, b.key);
    EXPECT_EQ(a.value, b.value);
}

inline void expect_same(const HostRow& a, const HostRow& b) {
    EXPECT_EQ(a.rank, b.rank);
    EXPECT_EQ(a.local_rank, b.local_rank);
    EXPECT_EQ(a.host, b.host);
    EXPECT_EQ(a.cpus, b.cpus);
    EXPECT_EQ(a.device, b.device);
    EXPECT_EQ(a.threads, b.threads);
    EXPECT_EQ(a.cores, b.cores);
}

inline void expect_same(const Run& a, const Run& b) {
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.command, b.command);
    EXPECT_EQ(a.argv, b.argv);
    EXPECT_EQ(a.label, b.label);
    EXPECT_EQ(a.started_utc, b.started_utc);
    EXPECT_EQ(a.duration_s, b.duration_s);
    EXPECT_EQ(a.version, b.version);
    EXPECT_EQ(a.git_revision, b.git_revision);
    EXPECT_EQ(a.exit_code, b.exit_code);
    EXPECT_EQ(a.valid, b.valid);
    EXPECT_EQ(a.warnings, b.warnings);
    expect_all_same(a.config, b.config);
    expect_all_same(a.context, b.context);
    expect_all_same(a.hosts, b.hosts);
    expect_all_same(a.measurements, b.measurements);
    expect_all_same(a.tables, b.tables);
}

}  // namespace ranklab::results
