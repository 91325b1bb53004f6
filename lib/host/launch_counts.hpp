// How many processes were asked for and started, against how many MPI connects.
#pragma once

#include <optional>
#include <string>

#include "host/finding.hpp"

namespace ranklab::host {

/// What the launcher started against what MPI connected. The finding is fatal: N processes that do not know
/// of each other would each print plausible numbers. `expected` is the number that the user gave, which
/// overrules the launcher; `mend` names the launchers of this build's MPI library.
std::optional<Finding> check_connected(int world_size, const std::string& launcher,
                                       std::optional<int> launched, std::optional<int> expected,
                                       const std::string& mend);

/// What Slurm was asked for, against what was started by another launcher inside of its job. `job` and
/// `step`: tasks of the job, and of the step that this process is in.
std::optional<Finding> check_slurm_counts(int world_size, const std::string& launcher, std::optional<int> job,
                                          std::optional<int> step);

}  // namespace ranklab::host
