// A run's checks, failures, and statistics of its series.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

using results::CheckOutcome;

struct CheckResult {
    std::string check;
    CheckOutcome outcome = CheckOutcome::not_verified;
    std::string detail;
};

/// Adds the table `verification`. A failed check makes the run invalid (exit code 3), with its
/// detail as the first warning.
void fill_verdicts(results::Run& run, const std::vector<CheckResult>& verdicts);

/// Adds a failure that did not end the run, such as in writing a file besides the results: as a
/// warning, and as the exit code if that is 0 or 7. Called on rank 0, whose exit code becomes the
/// job's.
void add_failure(results::Run& run, const base::Failure& failure);

/// Called once all measurements are added. Gives each measurement of at least 6 rows (axis not
/// "run") an interval that allows for autocorrelation (stats::estimate_median). Adds the table
/// `statistics` for the times of steps, jobs, epochs, calls and longer phases: outliers, which
/// still count, and the detected warm-up. Adds a warning if a step, job, epoch or call time has no
/// interval or one as wide as its value. Removes means of ratios.
void add_statistics(results::Run& run);

}  // namespace ranklab::experiments
