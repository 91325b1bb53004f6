// Private to this room: which runs of A and of B are of one configuration.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/compare/compare.hpp"
#include "report/model/conditions.hpp"

namespace ranklab::report::compare {

using Runs = std::vector<const results::Run*>;
Runs both(const Runs& a, const Runs& b);

/// What the runs of one process share and no other run has; of a run that does not say it, itself.
std::string process_of(const results::Run& run);

/// Runs of equal decisive conditions, those that may differ left aside.
struct LikeRuns {
    model::Conditions conditions;
    Runs members;

    const std::string& command() const { return conditions.at("command"); }
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

/// What a reader must know of a pair beside its rows: runs of one process, on both sides, before all of the
/// other side, on busy hosts.
std::vector<std::string> notes_of(const CompareGroup& group, const Runs& a, const Runs& b);

/// "train, model mnist-cnn, ranks 2": the command, and of each group the settings by which a person knows it.
std::vector<std::string> titles_of(const std::vector<LikeRuns>& groups);

}  // namespace ranklab::report::compare
