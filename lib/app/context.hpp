// Completes a Run with what only the program knows: how it was called, on what, where.
#pragma once

#include <string>
#include <vector>

#include "host/placement.hpp"
#include "options/options.hpp"
#include "results/run.hpp"

namespace ranklab::app {

/// Facts of this node, the libraries and the allowed environment variables, and what the cgroups of the
/// ranks' hosts allow.
std::vector<results::Fact> collect_context(const std::string& output_file,
                                           const std::vector<host::Placement>& placements);

/// `on_gpus`: whether the ranks compute on theirs.
std::vector<results::HostRow> host_rows(const std::vector<host::Placement>& placements, bool on_gpus);

/// "# ranks: 2 on 1 node, each 1 thread on 2 cores (node07)".
std::string placement_line(const std::vector<host::Placement>& placements);
/// The same, and a line a node: what runs where, a few lines at any number of ranks.
std::string placement_header(const std::vector<host::Placement>& placements);

}  // namespace ranklab::app
