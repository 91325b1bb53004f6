// Forecasts the step time at other rank counts by simulating a step of parts that stored runs
// measured: a rank's work, its gradients, the network (docs/predict.md). Seconds and bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/step.hpp"
#include "report/frame/frame.hpp"
#include "report/model/chosen_runs.hpp"
#include "results/run.hpp"

namespace ranklab::report::predict {

/// One micro-batch of a rank that is alone on its host.
struct AloneWork {
    forecast::RankWork work = {};
    /// Relative to the step time: the half-width of its interval or, if larger, the largest
    /// deviation of an older run.
    double half_width = 0;
};

/// The computing of all ranks of one run; several ranks share a host.
struct SharedWork {
    const results::Run* run = nullptr;
    std::size_t per_host = 0;              ///< most ranks on one host
    double batch = 0;                      ///< samples of a rank
    double slowest_s = 0;                  ///< slowest rank's computing, median over steps
    double half_width = 0;                 ///< relative, of slowest_s
    std::vector<double> computing_s = {};  ///< one value per step and rank
};

/// The runs with the same work as the newest one-rank run with the table `layers`, the profile.
struct Evidence {
    std::string newest = "ranklab train";            ///< the command of the newest training
    const results::Run* profile = nullptr;           ///< nullptr: none, and the rest is empty
    std::vector<forecast::Gradient> gradients = {};  ///< the profile's, in the order of backward
    std::map<double, AloneWork> alone = {};          ///< by micro-batch
    std::vector<SharedWork> shared = {};             ///< newest first
    std::size_t most_ranks = 0;                      ///< of any run
    /// Allreduces of the gradients' type. MPI chooses the algorithm of a blocking allreduce;
    /// libnbc, which works in the background, uses trees.
    forecast::MeasuredNetwork blocking = {{forecast::Algorithm::ring,
                                           forecast::Algorithm::recursive_doubling},
                                          {}},
                              background = {{forecast::Algorithm::tree}, {}};
    /// Fraction of the computing speed that a background allreduce takes: on one host, between
    /// hosts. NaN: not measured.
    std::array<double, 2> compute_share = {stats::kNone, stats::kNone};
};

/// Whether a rank computes the same on one sample in both runs.
bool is_same_work(const results::Run& a, const results::Run& b);
/// Takes the newest profile of `precision`, or of any if empty. The result points into `runs`.
Evidence evidence_in(std::span<const results::Run> runs, const std::string& precision);

/// The setting as a number; `otherwise` if it is none.
double number_of(const results::Run& run, std::string_view name, double otherwise);

/// Changes to the measured runs. A field without a value changes nothing.
struct WhatIf {
    bool strong = false;  ///< keeps the global batch; otherwise a rank's micro-batch
    /// `batch_size`: a rank's micro-batch; strong: the global batch.
    std::optional<std::int64_t> batch_size = {}, accumulate = {}, ranks_per_node = {}, zero = {};
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
    std::vector<std::string> notes = {};  ///< the caveats of the runs that were used

    bool refused() const { return refusal.why != Refusal::Why::none; }
};

/// The chosen runs of train, and all runs of comm in the file.
std::vector<results::Run> runs_for_mechanism(const model::ChosenRuns& chosen);
/// One forecast for each of `ranks`. `force`: beyond 64 times the largest run's ranks, too.
std::vector<MechanismForecast> mechanism_forecast(std::span<const results::Run> runs,
                                                  const WhatIf& what_if,
                                                  std::span<const std::size_t> ranks, bool force);
/// One row per rank count; column `what`: "forecast" or the code of a refusal.
Frame frame_of(const std::vector<MechanismForecast>& forecasts);

}  // namespace ranklab::report::predict
