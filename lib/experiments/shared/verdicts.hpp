// A run's checks, its warnings about its own numbers, and the statistics of its series.
#pragma once

#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::experiments {

inline constexpr const char* kDoesNotApply = "does not apply";

struct CheckResult {
    std::string check;
    std::string result;  ///< "passed", "failed", "not verified" or kDoesNotApply
    std::string detail;
};

/// Adds the table of checks; a failed check makes the run invalid (exit code 3), with its reason as
/// a warning.
void fill_verdicts(results::Run& run, const std::vector<CheckResult>& verdicts);

/// A warning: a batch that the data set cannot fill.
void warn_of_oversized_batch(results::Run& run);

/// To be called when all measurements are there. Gives every series of at least 6 rows (its axis is
/// not "run") an interval that allows for dependence (stats::estimate_median). Adds the table
/// `statistics` of the important times, with outliers, which stay counted, and the end of the
/// warm-up that the series shows. Adds a warning where the interval of a whole step, job or epoch
/// cannot be trusted, or is as wide as its value. Several ratios lose their mean, since ratios are
/// not averaged.
void add_statistics(results::Run& run);

}  // namespace ranklab::experiments
