// A results file with made-up runs.
#pragma once

#include <string>
#include <vector>

#include "report/model/chosen_runs.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::report {

/// A training run of 8 steps with the median `step_s`.
inline results::StoredRun step_run(const std::string& id, int ranks, double step_s,
                                   const std::string& sync = "flat") {
    results::StoredRun run = results::sample_run(id);
    run.label = "sweep";
    run.warnings.clear();
    run.config = {
        {"model", "mnist-cnn", false}, {"mode", "ddp", false},
        {"sync", sync, false},         {"data", "synthetic", false},
        {"batch-size", "32", true},    {"global-batch-size", std::to_string(32 * ranks), true},
        {"threads", "1", true},        {"seed", id, false}};
    run.hosts.resize(1);
    for (int rank = 1; rank < ranks; ++rank)
        run.hosts.push_back({rank, rank, "node01", "0", "cpu"});
    results::Measurement m{"step_time_s", "s", results::Kind::cost, "max", "step", 1, {}, {}, {}};
    for (int i = 0; i < 8; ++i) m.samples.push_back(step_s * (0.93 + 0.02 * i));
    m.summary = stats::summarise(m.samples);
    results::Measurement forward = m;
    forward.name = "forward_time_s";
    for (double& sample : forward.samples) sample /= 4;
    forward.summary = stats::summarise(forward.samples);
    run.measurements = {m, forward, results::throughput(32 * ranks / step_s, 1, 2, 8)};
    run.tables.clear();
    return run;
}

class StoredRuns {
  public:
    explicit StoredRuns(const std::vector<results::StoredRun>& runs)
        : file_(folder_.path() / "r.h5") {
        for (const auto& run : runs) file_.append(run);
    }

    const results::ResultFile& file() const { return file_; }
    model::ChosenRuns chosen(model::Choice choice = {}) const { return {file_, std::move(choice)}; }
    std::vector<std::string> ids(model::Choice choice) const {
        std::vector<std::string> ids;
        chosen(std::move(choice)).visit(results::Detail::settings, [&](const auto& run) {
            ids.push_back(run.id);
        });
        return ids;
    }

  private:
    results::TempFolder folder_;
    results::ResultFile file_;
};

/// The text that `write(sink)` writes.
template <class Write>
std::string written(Write write) {
    std::string text;
    write([&](std::string_view piece) { text += piece; });
    return text;
}

}  // namespace ranklab::report
