// Private to this room: which measurements are compared, and what number a run has of each.
#pragma once

#include <string>
#include <vector>

#include "report/compare/compare.hpp"
#include "results/run.hpp"

namespace ranklab::report::compare {

/// Why the run's numbers are left out of a comparison; "" where they count.
std::string reason_to_leave_out(const results::Run& run, bool with_unverified);

/// The measurements that are compared unless told otherwise, as far as a run of either side has them; all
/// costs and rates of a command that has no headline of its own.
std::vector<std::string> headline_measurements(const std::string& command,
                                               const std::vector<const results::Run*>& runs);
/// In the order of their first run.
std::vector<std::string> all_measurements(const std::vector<const results::Run*>& runs);

/// By the vocabulary; of a name that it does not have by the kind: costs lower, rates higher.
Direction direction_of(const results::Measurement& measurement);

/// The run's one value: the median over its repetitions, of what is learned (losses, accuracy) the last
/// epoch's. NaN where it has none.
double value_of_run(const results::Run& run, const std::string& measurement);

}  // namespace ranklab::report::compare
