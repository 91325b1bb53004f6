// Private to this room: under what conditions a run was measured, and which of them have to be equal.
#pragma once

#include "report/model/surroundings.hpp"

namespace ranklab::report::compare {

/// What has to be equal for two runs to be compared: the command, the settings that define the work, ranks,
/// nodes, hosts and devices, and the facts of the context (as "section.key") that times depend on. A flag
/// that is not set is the same as one that the program did not have.
model::Conditions decisive_conditions(const results::Run& run);

/// Facts that may matter and differ too often to be refused: said where they differ.
model::Conditions noted_conditions(const results::Run& run);

/// What the runs of one process share and no other run has; of a run that does not say it, itself.
std::string process_of(const results::Run& run);

}  // namespace ranklab::report::compare
