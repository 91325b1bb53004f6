// Speedup and parallel efficiency of groups of runs, by one rule wherever they are shown.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/model/groups.hpp"
#include "results/result_file.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::model {

/// What a ratio of two groups is made of: the medians of their runs, since what differs from run to run is in
/// them; of two groups of one run the repetitions of these, the slowest rank's each.
struct TimesOfBoth {
    std::vector<double> base, times;
    bool within_runs = false;

    /// Of an interval of their ratio: what it is made over; or that there is none, and why.
    std::string interval_over(const stats::Interval& interval, const std::string& repetitions) const;
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
    TimesOfBoth of(std::string_view measurement, const RunGroup& base, const RunGroup& group);

  private:
    const std::vector<double>& repetitions(std::string_view measurement, const RunGroup& of_one);

    std::function<results::Run(const std::string&)> load_;
    std::map<std::pair<std::string, std::string>, std::vector<double>> read_;
};

/// One group against its base: the single-device runs (surroundings.hpp) whose other keys are the same, but
/// for those that mean nothing on one device; where there are none the group of fewest ranks whose other keys
/// are the same.
struct ScalingRow {
    bool is_base = false;
    stats::RatioEstimate speedup;     ///< T(base) / T
    stats::RatioEstimate efficiency;  ///< NaN where neither strong nor weak scaling can be claimed
    std::string scaling;              ///< "strong", "weak", "same ranks" as the base or ""
    bool within_runs = false;         ///< one run a side: the interval is over their repetitions
};

struct GroupScaling {
    std::vector<ScalingRow> rows;    ///< one a group; empty where no key is `ranks`
    std::vector<std::string> bases;  ///< a line each: what the base is, with its absolute value
    std::vector<std::string> notes;  ///< what is fixed, and where nothing could be claimed
};

/// Of the groups as sorted() gave them. Strong is claimed where the work of all ranks together is the same
/// (global-batch-size; files and size of io), weak where that of each rank is (batch-size). The samples of
/// groups of one run are read from the file.
GroupScaling scaling_of(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys,
                        const results::ResultFile& file);

}  // namespace ranklab::report::model
