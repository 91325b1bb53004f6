// Runs a sweep: starts the runs that the results file lacks, one after another.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "campaign/plan.hpp"
#include "report/model/groups.hpp"
#include "results/result_file.hpp"

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
/// Starts these repetitions in this order, whatever is stored.
Outcome run_tasks(const Sweep& sweep, const std::vector<Task>& tasks, const Say& say);
/// Calls look() for each stored run of a point that is valid and not cut short, in stored order.
void visit_runs(const Sweep& sweep, results::Detail detail,
                const std::function<void(std::size_t point, const results::Run&)>& look);

/// The stored runs of the sweep that are not cut short, in groups; nullopt if there are none.
std::optional<report::model::Groups> groups_of(const Sweep& sweep,
                                               const std::vector<std::string>& ignore);

/// Starts each point twice, then those that may still be the best (stats::standing_of), within
/// race.budget; stored runs count. Compares times per sample, value (io) or call (comm). Returns
/// the exit code of run_missing(), and the verdict. Throws what run_missing() throws.
std::pair<int, std::string> run_race(const Sweep& sweep, const RaceSettings& race, const Say& say);

/// The table of the points with speedup, efficiency and verdict; if given, with `verdict` instead.
/// `ignore`: surroundings that may differ within a point.
std::string table_text(const Sweep& sweep, const std::vector<std::string>& ignore = {},
                       const std::string& verdict = "");

}  // namespace ranklab::campaign
