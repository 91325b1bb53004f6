// Runs of `ranklab train` for comparisons: a value a run is all that differs, unless a test says
// otherwise.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "report/compare/compare.hpp"
#include "results/run.hpp"

namespace ranklab::report {

inline results::Measurement median_of(const std::string& name, const std::string& unit,
                                      results::Kind kind, double median) {
    results::Measurement m{name, unit, kind, "max", "step", 1, {}, {}, {}};
    m.summary.n = 50;
    m.summary.median = m.summary.mean = median;
    return m;
}

/// `minute`: of its start, so that runs can be put in order.
inline results::Run train_run(double step_time_s, int minute) {
    results::Run run;
    run.started_utc = fmt::format("2026-11-21T10:{:02}:00Z", minute);
    run.id = fmt::format("20261121T10{:02}00Z-{:06x}", minute, minute);
    run.command = "train";
    run.version = "0.1.0";
    run.config = {{"model", "mnist-cnn", false},
                  {"lr", "0.7", true},
                  {"seed", "1", true},
                  {"label", "x", false},
                  {"channels-last", "false", false}};
    run.context = {{"host", "cpu", "A64FX"},
                   {"host", "kernel", "6.1"},
                   {"libraries", "mpi", "Open MPI 4.1.4"}};
    run.hosts = {{0, 0, "node01", "0-3", "cpu"}, {1, 1, "node01", "4-7", "cpu"}};
    run.measurements = {median_of("step_time_s", "s", results::Kind::cost, step_time_s)};
    run.tables = {{"verification",
                   {{"check", std::vector<std::string>{"loss is finite", "parameters equal"}},
                    {"result", std::vector<std::string>{"passed", "not verified"}}}}};
    return run;
}

/// Values `centre` times lognormal noise of that spread. Even minutes are A's, odd ones B's: they
/// take turns.
inline compare::Side noisy_side(const std::string& name, std::size_t runs, double centre,
                                double spread, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, spread);
    compare::Side side{name, {}};
    for (std::size_t i = 0; i < runs; ++i)
        side.runs.push_back(train_run(centre * std::exp(normal(random)),
                                      static_cast<int>(2 * i) + (name == "B" ? 1 : 0)));
    return side;
}

/// Equal values but for a tiny step from run to run, so that there are no ties.
inline compare::Side steady_side(const std::string& name, std::size_t runs, double centre) {
    compare::Side side{name, {}};
    for (std::size_t i = 0; i < runs; ++i)
        side.runs.push_back(train_run(centre * (1 + 1e-4 * static_cast<double>(i)),
                                      static_cast<int>(2 * i) + (name == "B" ? 1 : 0)));
    return side;
}

inline void set(compare::Side& side, const std::string& key, const std::string& value) {
    for (auto& run : side.runs) {
        std::erase_if(run.config, [&](const auto& one) { return one.key == key; });
        run.config.push_back({key, value, false});
    }
}

inline void set_fact(compare::Side& side, const std::string& section, const std::string& key,
                     const std::string& value) {
    for (auto& run : side.runs) {
        std::erase_if(run.context,
                      [&](const auto& one) { return one.section == section && one.key == key; });
        run.context.push_back({section, key, value});
    }
}

}  // namespace ranklab::report
