// A run's checks, failures, and statistics of its series.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

enum class CheckOutcome { passed, failed, not_verified, does_not_apply };

struct CheckResult {
    std::string check;
    CheckOutcome outcome = CheckOutcome::not_verified;
    std::string detail;
};

/// Adds the table `verification`. A failed check makes the run invalid (exit code 3), with its
/// detail as the first warning.
void fill_verdicts(results::Run& run, const std::vector<CheckResult>& verdicts);

/// Adds the failure of work that did not end the run, such as writing a file besides the results:
/// a warning, and the exit code unless the run has a graver one. For rank 0, whose code counts.
void add_failure(results::Run& run, const base::Failure& failure);

/// Called once all measurements are added. Gives every series of at least 6 rows (its axis is not
/// "run") an interval that allows for dependence (stats::estimate_median). Adds the table
/// `statistics` for steps, jobs, epochs and calls and their longer phases: outliers, which still
/// count, and the warm-up that the series shows. Adds a warning if the interval of a step, job,
/// epoch or call time is missing or as wide as its value. Drops the mean of several ratios.
void add_statistics(results::Run& run);

}  // namespace ranklab::experiments
