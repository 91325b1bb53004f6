// What a run says of its series beside their medians: how far these can be trusted.
#pragma once

#include "results/run.hpp"

namespace ranklab::experiments {

/// Call it when all measurements are there. Gives every series of at least 6 rows (its axis is not "run") the
/// interval that allows for their dependence (stats::estimate_median); adds the table `statistics` of the
/// times that matter, with outliers, which stay counted, and the end of the warm-up as the series itself
/// shows it; and a warning where the interval of a whole step, job or epoch cannot be trusted, or is as wide
/// as its value. Several ratios lose their mean: ratios are not averaged.
void add_statistics(results::Run& run);

}  // namespace ranklab::experiments
