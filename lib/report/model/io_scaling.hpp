// Rungs of the ladder over ranks or workers.
#pragma once

#include <string>
#include <vector>

#include "report/model/grouped_runs.hpp"

namespace ranklab::report::model {

/// A group's place in a scaling series.
struct ScalingPoint {
    double width = 1;  ///< ranks or workers
    const Group* group = nullptr;
};

/// The same rung, records and settings at two or more widths, ascending; the first point is the base.
struct ScalingSeries {
    std::string rung;
    std::string files, size;
    std::string variant;  ///< "--layout single"; "" for the defaults
    /// What of the surroundings is not the same in all series, "host.cpu X"; "" where all is.
    std::string surroundings;
    bool by_workers = false;
    std::vector<ScalingPoint> points;
};
/// Of groups with valid runs and the same surroundings; the newest of those with equal settings and widths.
/// Process rungs are drawn over workers, whatever the ranks, and rungs of rank 0 alone not at all.
std::vector<ScalingSeries> scaling_series(const std::vector<const Group*>& groups);

}  // namespace ranklab::report::model
