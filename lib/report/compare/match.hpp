// Private to this room: which runs of A and of B are of one configuration.
#pragma once

#include <string>
#include <vector>

#include "report/compare/compare.hpp"

namespace ranklab::report::compare {

using Runs = std::vector<const results::Run*>;
Runs both(const Runs& a, const Runs& b);

/// An identifier shared by the runs of one process; the run's id if none was stored.
std::string process_of(const results::Run& run);

/// Runs whose decisive conditions are equal, except those that may differ.
struct Configuration {
    model::Conditions conditions = {};
    Runs a = {}, b = {};

    const std::string& command() const { return conditions.at("command"); }
    bool on_both_sides() const { return !a.empty() && !b.empty(); }
};
/// The configurations in A's order, then those that only B has. Throws OptionError if no command is
/// common, or, naming the differences, if a command has a configuration that only A has and another
/// that only B has.
std::vector<Configuration> configurations_of(const Runs& a, const Runs& b,
                                             const std::vector<std::string>& ignore);

/// Differences between the two sides of a configuration: ignored conditions, and facts that are
/// only noted.
std::vector<DifferingKey> differing_keys(const Configuration& one,
                                         const std::vector<std::string>& ignore);

/// Notes below the rows: runs of one process, runs that are on both sides, sides measured one after
/// the other, busy hosts.
std::vector<std::string> notes_of(const CompareGroup& group, const Configuration& one);

/// "train, model mnist-cnn, ranks 2": the command, and the settings that distinguish the
/// configurations.
std::vector<std::string> titles_of(const std::vector<Configuration>& all);

}  // namespace ranklab::report::compare
