// Private to this room: under what conditions a run was measured, and which of them have to be equal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report {

using Conditions = std::map<std::string, std::string>;

/// What has to be equal for two runs to be compared: the command, the settings that define the work, ranks,
/// nodes, hosts and devices, and the facts of the context (as "section.key") that times depend on. A flag
/// that is not set is the same as one that the program did not have.
Conditions decisive_conditions(const results::Run& run);

/// Facts that may matter and differ too often to be refused: said where they differ.
Conditions noted_conditions(const results::Run& run);

/// Whether the user said that this key may differ: by its name, the part after its section's dot, "host" for
/// hosts, or a beginning with '*'.
bool is_allowed(const std::string& key, const std::vector<std::string>& allow);

}  // namespace ranklab::report
