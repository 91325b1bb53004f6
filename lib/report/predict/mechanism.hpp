// The step time on other numbers of ranks, by simulating a step of measured parts
// (docs/predict.md). Seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "forecast/network.hpp"
#include "report/frame/frame.hpp"
#include "report/frame/sentences.hpp"
#include "report/model/chosen_runs.hpp"
#include "results/run.hpp"

namespace ranklab::report::predict {

/// What changes against the measured runs. A field without a value changes nothing.
struct WhatIf {
    bool strong = false;  ///< keep the global batch; otherwise each rank's micro-batch
    std::optional<std::int64_t> batch_size = {};  ///< of a rank; strong: the global batch
    std::optional<std::int64_t> accumulate = {}, ranks_per_node = {};
    std::optional<double> bucket_cap_mb = {};
    std::string precision = {}, sync = {};

    bool operator==(const WhatIf&) const = default;
};

struct MechanismForecast {
    std::size_t ranks = 0;
    std::string work = {};        ///< "mnist-cnn, fp32"
    double batch = stats::kNone;  ///< samples that a rank computes at once
    double step_s = stats::kNone;
    stats::Interval range = {};
    double compute_s = stats::kNone;
    forecast::Algorithm algorithm = forecast::Algorithm::measured;
    Refusal refusal = {};  ///< numbers are valid only with Refusal::Why::none

    double exposed_s() const { return step_s - compute_s; }
};

/// The chosen training runs, and all runs of comm.
std::vector<results::Run> runs_for_mechanism(const model::ChosenRuns& chosen);
/// A forecast for each number in `ranks`. `force`: also beyond 64 times the ranks of the largest
/// run.
std::vector<MechanismForecast> mechanism_forecast(std::span<const results::Run> runs,
                                                  const WhatIf& what_if,
                                                  std::span<const std::size_t> ranks, bool force);
/// A row per number of ranks.
Frame frame_of(const std::vector<MechanismForecast>& forecasts);
std::string json_of(const std::vector<MechanismForecast>& forecasts);

struct CapAdvice {
    double cap_mb = 0;
    stats::RatioEstimate gain = {};  ///< the step with the cap of `what_if` / with this one
};
/// The cap of 1 to 100 MiB with the shortest step; nullopt if there is no forecast.
std::optional<CapAdvice> best_bucket_cap(std::span<const results::Run> runs, WhatIf what_if,
                                         std::size_t ranks);

}  // namespace ranklab::report::predict
