// Made-up runs of `ranklab io`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report {

struct RungTime {
    double median_s;
    stats::Interval s;
    std::size_t n = 7;
};

inline results::Measurement io_measurement(const std::string& name, const std::string& unit,
                                           results::Kind kind, const RungTime& value) {
    results::Measurement m{name, unit, kind, "max", "repetition", 1, {}, {}, {}};
    m.summary.n = value.n;
    m.summary.median = m.summary.mean = m.summary.min = m.summary.max = value.median_s;
    m.summary.ci95 = value.s;
    return m;
}

/// One strategy, 100 records of size 300, with `ranks` of four ranks on one host.
inline results::Run rung_run(const std::string& strategy, int ranks, int workers,
                             const RungTime& time) {
    results::Run run;
    run.id = "20261121T101500Z-" + strategy + std::to_string(ranks) + std::to_string(workers);
    run.command = "io";
    run.config = {{"strategy", strategy},
                  {"files", "100", true},
                  {"size", "300", true},
                  {"workers", std::to_string(workers), true}};
    run.config.push_back({"ranks", std::to_string(ranks), true});
    for (int rank = 0; rank < 4; ++rank) run.hosts.push_back({rank, rank, "node01", "0-1", "cpu"});
    run.measurements = {
        io_measurement("job_time_s", "s", results::Kind::cost, time),
        io_measurement("write_MiBps", "MiB/s", results::Kind::rate, {812.3456, {800, 820}, time.n}),
        io_measurement("files_per_s", "files/s", results::Kind::rate,
                       {100 / time.median_s, {}, time.n})};
    run.tables = {{"io_phases",
                   {{"phase", std::vector<std::string>{"generate", "write"}},
                    {"calls", std::vector<std::int64_t>{700, 700}},
                    {"total_s", std::vector<double>{0.75, 0.25}},
                    {"percent", std::vector<double>{75, 25}}}},
                  {"verification",
                   {{"check", std::vector<std::string>{"read back and compared"}},
                    {"result", std::vector<std::string>{"passed"}}}}};
    return run;
}

/// The run that holds the ladder of several.
inline results::Run ladder_run(const std::vector<std::pair<std::string, RungTime>>& rungs,
                               const std::vector<std::string>& marks) {
    results::Run run = rung_run("all", 2, 1, {1, {}});
    run.measurements.clear();
    std::vector<std::string> names, ceilings(rungs.size(), "write"), verified(rungs.size(), "yes");
    std::vector<std::int64_t> ranks(rungs.size(), 2), workers(rungs.size(), 0), n;
    std::vector<double> time, low, high, speedups, over_previous, rate(rungs.size(), 812.3456);
    for (const auto& [name, value] : rungs) {
        names.push_back(name);
        n.push_back(static_cast<std::int64_t>(value.n));
        time.push_back(value.median_s);
        low.push_back(value.s.low);
        high.push_back(value.s.high);
        speedups.push_back(rungs.front().second.median_s / value.median_s);
        over_previous.push_back(time.size() == 1 ? stats::kNone
                                                 : time[time.size() - 2] / value.median_s);
    }
    run.tables = {{"ladder",
                   {{"rung", names},
                    {"ranks", ranks},
                    {"workers", workers},
                    {"n", n},
                    {"job_time_s", time},
                    {"low_s", low},
                    {"high_s", high},
                    {"speedup", speedups},
                    {"over_previous", over_previous},
                    {"write_MiBps", rate},
                    {"files_per_s", std::vector<double>(rungs.size(), 50)},
                    {"ceiling", ceilings},
                    {"percent_of_ceiling", std::vector<double>(rungs.size(), 91.25)},
                    {"verified", verified},
                    {"mark", marks}}}};
    return run;
}

/// All ten strategies; the fastest is 40 times as fast as the slowest. Two rows have marks, the
/// pools no intervals.
inline results::Run sample_ladder() {
    return ladder_run(
        {{"text-loop", {4.8, {4.7, 5.0}}},
         {"text-vectorized", {1.4, {1.35, 1.5}}},
         {"binary", {0.16, {0.15, 0.18}}},
         {"process-pool", {0.3, {}, 3}},
         {"process-queue", {0.14, {}, 3}},
         {"mpi-send", {0.12, {0.11, 0.125}}},
         {"mpi-scatter", {0.121, {0.118, 0.13}}},
         {"hdf5-serial", {0.2, {0.19, 0.22}}},
         {"hdf5-parallel-independent", {0.18, {0.17, 0.2}}},
         {"hdf5-parallel-collective", {0.25, {0.24, 0.3}}}},
        {"", "", "", "3 repetitions: no interval", "3 repetitions: no interval", "", "", "", "",
         "collective writing was asked for and fell back to independent: it's the layout"});
}

}  // namespace ranklab::report
