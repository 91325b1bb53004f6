// Where a training step's time goes: one share for one phase, wherever it is shown.
#pragma once

#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report::model {

/// Of the table `phases`: means over ranks and counted steps, so that all parts, with `other`, add up to the
/// step. (Measurements of phases are the slowest rank's in each step; those do not add up.)
struct StepPart {
    std::string phase;             ///< "forward", "other"
    double mean_s = stats::kNone;  ///< in a step
    double percent = stats::kNone;
};
/// In the table's order; none where the run has no such table.
std::vector<StepPart> step_parts(const results::Run& run);

}  // namespace ranklab::report::model
