// Speedup and parallel efficiency of groups of runs that differ in their ranks.
#pragma once

#include <string>
#include <vector>

#include "report/model/groups.hpp"
#include "results/result_file.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::model {

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
