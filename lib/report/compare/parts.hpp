// Private to this room: what of a run is compared, runs of A and B brought together, and the rows made of
// them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/compare/compare.hpp"
#include "report/model/run_group.hpp"
#include "results/run.hpp"

namespace ranklab::report::compare {

using Runs = std::vector<const results::Run*>;
Runs both(const Runs& a, const Runs& b);

/// What has to be equal for two runs to be compared: the command, the settings that define the work, ranks,
/// nodes, hosts and devices, and the facts of the context (as "section.key") that times depend on. A flag
/// that is not set is the same as one that the program did not have.
model::Conditions decisive_conditions(const results::Run& run);

/// Facts that may matter and differ too often to be refused: said where they differ.
model::Conditions noted_conditions(const results::Run& run);

/// What the runs of one process share and no other run has; of a run that does not say it, itself.
std::string process_of(const results::Run& run);

/// Why the run's numbers are left out of a comparison; "" where they count.
std::string reason_to_leave_out(const results::Run& run, bool with_unverified);

/// The measurements that are compared unless told otherwise, as far as a run of either side has them; all
/// costs and rates of a command that has no headline of its own.
std::vector<std::string> headline_measurements(const std::string& command, const Runs& runs);
/// In the order of their first run.
std::vector<std::string> all_measurements(const Runs& runs);

/// Runs of equal decisive conditions, those that may differ left aside.
struct LikeRuns : model::RunGroup {
    Runs members;
};

struct MatchedGroups {
    std::vector<std::pair<LikeRuns, LikeRuns>> pairs;  ///< in A's order
    std::vector<LikeRuns> only_a, only_b;
};

/// OptionError where a group of A and one of B are of the same command and both have no counterpart, naming
/// what differs, and where nothing at all is of one command.
MatchedGroups match_groups(const Runs& a, const Runs& b, const std::vector<std::string>& allow);

/// What the two sides of a pair do not share: allowed conditions and facts that are only noted.
std::vector<DifferingKey> differing_keys(const Runs& a, const Runs& b, const std::vector<std::string>& allow);

/// "train, model mnist-cnn, ranks 2": the command, and of each group the settings by which a person knows it.
std::vector<std::string> titles_of(const std::vector<LikeRuns>& groups);

/// A row whose verdict is still to come: it depends on how many rows there are.
struct OpenRow {
    CompareRow row;
    std::vector<double> a, b;  ///< a value a process (process_of)
};

/// Some run has that measurement. DataError where the runs do not agree on its unit.
OpenRow open_row(const std::string& measurement, const Runs& a, const Runs& b);

/// p-values corrected over all rows with enough runs, then the verdicts, and where there is none the runs
/// needed.
void close_rows(const std::vector<OpenRow*>& rows, double smallest);

}  // namespace ranklab::report::compare
