// Forecasts the step time at other rank counts by simulating a step of measured parts
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

/// Changes to the measured runs. A field without a value changes nothing.
struct WhatIf {
    bool strong = false;  ///< keeps the global batch; otherwise a rank's micro-batch
    std::optional<std::int64_t> batch_size =
        {};  ///< a rank's micro-batch; strong: the global batch
    std::optional<std::int64_t> accumulate = {}, ranks_per_node = {};
    std::optional<double> bucket_cap_mb = {};
    std::string precision = {}, sync = {};

    bool operator==(const WhatIf&) const = default;
};

struct MechanismForecast {
    std::size_t ranks = 0;
    std::string work = {};        ///< "mnist-cnn, fp32"
    double batch = stats::kNone;  ///< micro-batch of a rank
    double step_s = stats::kNone;
    stats::Interval range = {};
    double compute_s = stats::kNone;
    forecast::Algorithm algorithm = forecast::Algorithm::measured;
    Refusal refusal = {};   ///< other than Why::none: there are no numbers
    std::string held = {};  ///< the nearest measured run and its simulation, as a sentence
    std::vector<Caveat> caveats = {};  ///< of the runs that it rests on

    double exposed_s() const { return step_s - compute_s; }
};

/// The chosen runs of train, and all runs of comm in the file.
std::vector<results::Run> runs_for_mechanism(const model::ChosenRuns& chosen);
/// One forecast for each of `ranks`. `force`: beyond 64 times the largest run's ranks, too.
std::vector<MechanismForecast> mechanism_forecast(std::span<const results::Run> runs,
                                                  const WhatIf& what_if,
                                                  std::span<const std::size_t> ranks, bool force);
/// One row per rank count.
Frame frame_of(const std::vector<MechanismForecast>& forecasts);
std::string json_of(const std::vector<MechanismForecast>& forecasts);

struct CapAdvice {
    double cap_mb = 0;
    double gain = 1;  ///< step time with what_if's cap / with cap_mb
};
/// Returns the cap from 1 to 100 MiB with the shortest step; nullopt without a forecast. Requires a
/// cap in `what_if`.
std::optional<CapAdvice> best_bucket_cap(std::span<const results::Run> runs, WhatIf what_if,
                                         std::size_t ranks);

}  // namespace ranklab::report::predict
