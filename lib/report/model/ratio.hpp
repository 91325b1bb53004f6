// The ratio of the times of two groups of runs, by one rule wherever it is
// shown.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/model/run_group.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::model {

/// What a ratio of two groups is made of: the medians of their runs, since what differs from run to run is in
/// them; of two groups of one run the repetitions of these, the slowest rank's each.
struct TimesOfBoth {
    std::vector<double> base, times;
    bool within_runs = false;

    stats::RatioEstimate speedup() const { return stats::estimate_speedup(base, times); }
    stats::RatioEstimate efficiency(double p_over_base, stats::Scaling scaling) const {
        return stats::estimate_efficiency(base, times, p_over_base, scaling);
    }
};

class Ratios {
  public:
    /// `load` reads a run with its samples; each is asked for once.
    explicit Ratios(std::function<results::Run(const std::string& id)> load) : load_(std::move(load)) {}

    /// Of groups that have the measurement.
    TimesOfBoth of(const std::string& measurement, const RunGroup& base, const RunGroup& group);

  private:
    const std::vector<double>& repetitions(const std::string& measurement, const RunGroup& of_one);

    std::function<results::Run(const std::string&)> load_;
    std::map<std::pair<std::string, std::string>, std::vector<double>> read_;
};

}  // namespace ranklab::report::model
