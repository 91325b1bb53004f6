// Private to lib/report/compare: pairs the runs of A and B by configuration.
#pragma once

#include <string>
#include <vector>

#include "report/compare/compare.hpp"

namespace ranklab::report::compare {

Runs both(const Runs& a, const Runs& b);

/// The identifier that the runs of one launch share; the run's id if none was stored.
std::string process_of(const results::Run& run);

/// The load by other processes on the runs' hosts.
model::OtherLoad load_of(const Runs& runs);

/// Returns groups with title and runs, but without rows: in A's order, then those that only B has.
/// Throws OptionError if A and B have no command in common, or if both have runs of a command
/// without a counterpart on the other side; the message then has the conditions that differ.
std::vector<CompareGroup> groups_of(const Runs& a, const Runs& b,
                                    const std::vector<std::string>& ignore);
/// If A and B lack counterparts only because of one option: this option and the conditions that
/// follow from it; otherwise {}.
std::vector<std::string> one_difference(const Runs& a, const Runs& b,
                                        const std::vector<std::string>& ignore);
/// The option among the keys from which all others follow; "": none.
std::string explaining(const std::vector<std::string>& keys);

/// Ignored conditions and noted facts whose values differ between the sides.
std::vector<DifferingKey> differing_keys(const CompareGroup& group,
                                         const std::vector<std::string>& ignore);

/// Warns if runs share a launch, are on both sides, all precede those of the other side, or if load
/// by other processes differs.
std::vector<std::string> notes_of(const CompareGroup& group);

}  // namespace ranklab::report::compare
