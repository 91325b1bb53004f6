// What is wrong with where the ranks sit. Pure functions on plain structs, so that every finding can be
// tested without a cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/finding.hpp"
#include "host/placement.hpp"

namespace ranklab::host {

/// Ranks whose GPU is far from all their cores. `launcher` as of check_connected.
std::optional<Finding> check_gpu_distance(const std::vector<Placement>& placements,
                                          const std::string& launcher = "");

/// Threads against cpusets and cgroups' limits, ranks that share cores, programs and libraries that differ.
/// `launcher` as of check_connected: what mends it is how that one starts.
std::vector<Finding> check_placements(const std::vector<Placement>& placements,
                                      const std::string& launcher = "");

}  // namespace ranklab::host
