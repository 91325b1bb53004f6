// How an MPI program's job begins: one set of options on all ranks, and a launch that makes sense.
#pragma once

#include <string>
#include <vector>

#include "app/session.hpp"
#include "options/options.hpp"
#include "results/run.hpp"

namespace ranklab::app {

/// Collective, and first of all in every program: OptionError where the ranks' command lines differ, or their
/// programs, whose messages would be taken for each other's.
void refuse_other_options(Session& session, const std::string& command_line);

/// Collective. Command line > config file > default, merged on rank 0 and broadcast: a config file need be
/// only where rank 0 is. VerificationError where the ranks' command lines differ.
void settle_options(Session& session, options::Options& options, const std::string& command_line);

/// Collective. The launch guard: what is fatal throws, the rest becomes warnings of the run.
std::vector<std::string> guard_launch(Session& session, const options::Options& options,
                                      const std::vector<host::Placement>& placements);

/// "# key: value" lines on stdout.
void print_settings(const std::vector<results::Setting>& settings);

}  // namespace ranklab::app
