// Which groups of training runs are points of one scaling curve.
#pragma once

#include <string>
#include <vector>

#include "report/model/grouped_runs.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::model {

/// One training set-up at two or more rank counts, ascending.
struct CurveOfGroups {
    std::string title;
    /// The first is the base: the single-device run where there is one. One rank with the code for several
    /// (`--mode ddp`) is then a second point at 1.
    std::vector<const Group*> points;
    std::string
        differing;  ///< what the program chose by the number of ranks and is not the same at all of them
};

inline constexpr std::size_t kMostCurves = 6;

/// Weak: each rank's batch stays. Strong: that of all ranks together. All other settings are equal along a
/// curve, but those between ranks, which mean nothing to its single-device base, and those that follow from
/// the ranks by default, unless somebody varied them at one rank count. At most kMostCurves.
std::vector<CurveOfGroups> curves_of(const GroupedRuns& grouped, stats::Scaling scaling);
std::vector<CurveOfGroups> curves_of(GroupedRuns&&, stats::Scaling) = delete;  // the curves point into it

}  // namespace ranklab::report::model
