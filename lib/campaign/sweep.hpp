// Runs a sweep: starts the runs that the results file lacks, one after another.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "campaign/plan.hpp"
#include "report/model/groups.hpp"

namespace ranklab::campaign {

/// Shows a line to the user.
using Say = std::function<void(const std::string&)>;

/// Number of starts whose runs are missing. Runs from other input files or programs do not count.
int missing_processes(const Sweep& sweep);

/// The commands that run_missing() would start, one per line, quoted for a shell.
std::string dry_run_text(const Sweep& sweep);

/// Starts the missing runs. Names a point that fails and goes on with the other points. Ends early
/// at a signal (StopSignals). Returns the exit code of the first failed point, or 128 + the
/// signal's number; otherwise ExitCode::environment if runs are still missing. Throws
/// EnvironmentError if another process measures the sweep.
int run_missing(const Sweep& sweep, const Say& say);

struct Outcome {
    int code = 0;  ///< of the first failed start, or 128 + a signal's number
    std::vector<std::string> failures = {};  ///< the points that failed, and how
};
/// Starts each point once, in their order, whatever is stored.
Outcome run_each(const Sweep& sweep, const Say& say);

/// The stored whole runs of the sweep; nothing if there are none.
std::optional<report::model::Groups> groups_of(const Sweep& sweep,
                                               const std::vector<std::string>& ignore);

/// The table of the points with speedup and efficiency, and the verdict. `ignore`: surroundings
/// that may differ within a point.
std::string table_text(const Sweep& sweep, const std::vector<std::string>& ignore = {});

}  // namespace ranklab::campaign
