// Speedup and parallel efficiency of groups of runs, by one rule wherever they are shown.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/model/groups.hpp"
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
    /// Work per second and core, or GPU, over the base's; NaN where one of both is not known, or where they
    /// count different things (Unit). `work`: of a step or job, over the base's.
    stats::RatioEstimate efficiency(double work, const Cores& of_base, const Cores& of_group) const;
};
/// Why two groups have no efficiency: a clause; "" where they have.
std::string why_no_efficiency(const Cores& of_base, const Cores& of_group);

/// Gives a run with its samples.
using LoadRun = std::function<results::Run(const std::string& id)>;

class Ratios {
  public:
    /// Each run is asked for once.
    explicit Ratios(LoadRun load) : load_(std::move(load)) {}

    /// Of groups that have the measurement.
    TimesOfBoth of(std::string_view measurement, const RunGroup& base, const RunGroup& group);

  private:
    const std::vector<double>& repetitions(std::string_view measurement, const RunGroup& of_one);

    LoadRun load_;
    std::map<std::pair<std::string, std::string>, std::vector<double>> read_;
};

/// What names a group beside the others: "mode = ddp, ranks = 2".
std::string key_text(const KeyedGroup& group, const std::vector<std::string>& keys);

/// Caches that suddenly hold the work make a little more than 1; more says that the base is none.
inline constexpr double kMostEfficiency = 1.2;
/// By its interval, where it has one.
inline bool too_efficient(const stats::RatioEstimate& efficiency) {
    return (std::isnan(efficiency.ci.low) ? efficiency.ratio : efficiency.ci.low) > kMostEfficiency;
}

/// What a group is to its base in one kind of scaling.
struct ScalingClaim {
    bool is_base = false;                  ///< of another row
    double work = 0;                       ///< of all ranks together over its base's; 0: it has none
    stats::RatioEstimate efficiency = {};  ///< per core, or GPU; NaN: none
    std::string why_no_efficiency = {};    ///< a clause: there is a base, but no efficiency
    std::vector<std::string> apart = {};   ///< what is not the base's, "threads 1 (base 2)"
};

/// One group against its bases, of which the strong one did the same work in all, the weak one the same on
/// each rank.
struct ScalingRow {
    stats::RatioEstimate speedup;  ///< T(strong base) / T; NaN: none
    ScalingClaim strong, weak;
    std::string why_not;  ///< a clause: there is no speedup

    bool is_base() const { return strong.is_base || weak.is_base; }
};

struct GroupScaling {
    std::string over;  ///< what is scaled, of the keys: ranks, threads or workers; "": none of them
    std::string unit;  ///< what efficiency is per: "core", "CPU", "GPU", or several: "core or GPU"
    std::vector<ScalingRow> rows;    ///< one a group; empty where nothing is scaled
    std::vector<std::string> bases;  ///< a line each: what the base is, with its absolute value
    std::vector<std::string>
        best;  ///< a line for each base: the fastest row; of weak scaling the widest of each series
    std::vector<std::string> why;    ///< for each of `best`: "why: ..."; "" where the phases do not tell
    std::vector<std::string> notes;  ///< what is fixed, and how efficiency is made

    /// Whether some row has a base of that kind. Rows of the base's ranks, which are of both kinds, count as
    /// strong where there is nothing else.
    bool has_strong() const;
    bool has_weak() const;
};

/// Of the groups as sorted() gave them, over the first of the keys ranks, threads and workers. The base of a
/// group is the single-device runs whose other keys are the same, but for those that mean nothing on one
/// device; where there are none the fewest ranks whose other keys are the same. Strong is claimed where the
/// work of all ranks together is the same (global-batch-size; files and size of io), weak where that of each
/// rank is (batch-size), nothing where other work was done. Of groups of one run the samples are asked for.
GroupScaling scaling_of(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys,
                        const LoadRun& load);

}  // namespace ranklab::report::model
