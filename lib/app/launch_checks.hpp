// What the ranks of a launch find out together, beside what host/placement.hpp makes of their places.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "host/conditions.hpp"
#include "host/finding.hpp"
#include "host/placement.hpp"

namespace ranklab::app {

/// Collective. Where rank 0 would write `output` (a file; "none": nowhere) and another host sees no such
/// place. On several hosts rank 0 makes and removes a small file there. A place where it cannot do so is no
/// finding: storing says that.
std::optional<host::Finding> check_results_folder(comm::Communicator& control,
                                                  const std::vector<host::Placement>& placements,
                                                  const std::filesystem::path& output);

/// Ranks that would use one GPU, or one far from their cores.
std::vector<host::Finding> check_gpus(const std::vector<host::Placement>& placements);

/// Collective. The wall clock of one rank of each host against rank 0's. The same on rank 0 alone.
std::vector<host::ClockOffset> compare_clocks(comm::Communicator& control,
                                              const std::vector<host::Placement>& placements);

}  // namespace ranklab::app
