// Training runs as ranklab-train stores them, for pages, curves and titles.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/model/grouped_runs.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::report {

/// A rank alone or several, each with its own 32 samples; 20 steps that do not hang together: each of 20
/// levels once, out of order.
inline results::Run weak_run(const std::string& id, int ranks, double step_s) {
    results::Run run = results::sample_run(id);
    run.config = {{"model", "mnist-cnn", false},
                  {"mode", ranks == 1 ? "single" : "ddp", false},
                  {"sync", ranks == 1 ? "none" : "bucketed", false},
                  {"batch-size", "32", true},
                  {"threads", "1", true},
                  {"global-batch-size", std::to_string(32 * ranks), true}};
    run.hosts.resize(static_cast<std::size_t>(ranks), run.hosts.front());
    for (auto& row : run.hosts) row.cores = row.cpus;
    run.measurements = {results::step_time(20, static_cast<std::size_t>(ranks)),
                        results::throughput(32 * ranks / step_s, 30 * ranks / step_s, 33 * ranks / step_s)};
    auto& samples = run.measurements[0].samples;
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = step_s + 1e-7 * static_cast<double>(i / static_cast<std::size_t>(ranks) * 7 % 20);
    run.measurements[0].summary = stats::summarise(run.measurements[0].samples);
    return run;
}

inline results::Run with_settings(results::Run run,
                                  const std::vector<std::pair<std::string, std::string>>& settings) {
    for (const auto& [key, value] : settings) {
        std::erase_if(run.config, [&](const auto& setting) { return setting.key == key; });
        run.config.push_back({key, value, false});
    }
    return run;
}

inline results::Run with_cpu(results::Run run, const std::string& cpu) {
    std::erase_if(run.context, [](const auto& one) { return one.section == "host" && one.key == "cpu"; });
    run.context.push_back({"host", "cpu", cpu});
    return run;
}

}  // namespace ranklab::report
