// Where a training step's time goes: one share for one phase, wherever it is shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report::model {

/// Of the table `phases`: means over ranks and counted steps, so that all parts, with `other`, add up to the
/// step. (Measurements of phases are the slowest rank's in each step; those do not add up.)
struct StepPart {
    std::string phase;             ///< "forward", "other"
    std::string_view measurement;  ///< "forward_time_s"; "" of `other`, and of one that nobody knows
    std::size_t row = 0;           ///< of the table
    double mean_s = stats::kNone;  ///< in a step
    double percent = stats::kNone;
};
/// In the table's order; none where the run has no such table.
std::vector<StepPart> step_parts(const results::Run& run);
/// The percentage of a measurement that is a phase; NaN where it is none, or the run does not say.
double share_of_step(const results::Run& run, std::string_view measurement);

}  // namespace ranklab::report::model
