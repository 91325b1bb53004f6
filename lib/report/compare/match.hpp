// Private to this room: which runs of A and of B are of one configuration.
#pragma once

#include <string>
#include <vector>

#include "report/compare/compare.hpp"

namespace ranklab::report::compare {

using Runs = std::vector<const results::Run*>;
Runs both(const Runs& a, const Runs& b);

/// An identifier that the runs of one process share; the run's own where it was not stored.
std::string process_of(const results::Run& run);

/// Runs of equal decisive conditions, those that may differ left aside.
struct Configuration {
    model::Conditions conditions = {};
    Runs a = {}, b = {};

    const std::string& command() const { return conditions.at("command"); }
    bool on_both_sides() const { return !a.empty() && !b.empty(); }
};
/// The configurations in A's order, those of B alone last. OptionError, naming the differences,
/// where one of A and one of B have the same command and no counterparts, and where no command is
/// common.
std::vector<Configuration> configurations_of(const Runs& a, const Runs& b,
                                             const std::vector<std::string>& ignore);

/// The differences of the two sides of a configuration: ignored conditions, and facts that are only
/// noted.
std::vector<DifferingKey> differing_keys(const Configuration& one,
                                         const std::vector<std::string>& ignore);

/// Notes below the rows: on runs of one process, on both sides, before all of the other side, on
/// busy hosts.
std::vector<std::string> notes_of(const CompareGroup& group, const Configuration& one);

/// "train, model mnist-cnn, ranks 2": the command, and the settings by which a person knows each.
std::vector<std::string> titles_of(const std::vector<Configuration>& all);

}  // namespace ranklab::report::compare
