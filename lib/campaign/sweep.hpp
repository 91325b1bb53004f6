// A sweep under way: what the results file lacks is started, process by process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "campaign/plan.hpp"

namespace ranklab::campaign {

/// Takes a line to show to the user.
using Say = std::function<void(const std::string&)>;

/// How many repetitions of each point the results file holds, whole and valid.
std::vector<int> stored_repetitions(const Sweep& sweep);
int missing_processes(const Sweep& sweep);

/// The commands that would be started, a line each, as a shell reads them.
std::string dry_run_text(const Sweep& sweep);

/// Starts the runs that are missing. A point that fails is named and not started again in this
/// call; the others are started. Ends early at a signal (StopSignals). Returns the exit code: the
/// first failed point's, or 128 + the signal.
int run_missing(const Sweep& sweep, const Say& say);

/// The table of the stored runs: the points with speedup and efficiency, and the verdict. `ignore`:
/// surroundings that may differ within a point.
std::string table_text(const Sweep& sweep, const std::vector<std::string>& ignore = {});

}  // namespace ranklab::campaign
