// What the ranks of a launch find out together for the tests of host/findings.hpp.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "comm/communicator.hpp"
#include "host/findings.hpp"

namespace ranklab::app {

/// `connected`: ranks that MPI connects. `expected` < 1: --expect-ranks was not given.
host::Evidence evidence_of(const std::vector<host::Placement>& placements, int connected, int expected,
                           bool on_gpus);

/// Whether this is one of many processes that the launcher started and MPI did not connect, and not the first
/// of them, which says what is wrong for all; on a terminal of its own it says so itself.
bool is_one_of_many_alone(int world_size);

/// Collective. On several hosts rank 0 makes and removes a small file in the folder of `output`, or in the
/// nearest one above it that exists. nullopt where it cannot, and for "none": storing says that.
std::optional<host::ResultsFolder> look_at_results_folder(comm::Communicator& control,
                                                          const std::vector<host::Placement>& placements,
                                                          const std::filesystem::path& output);
/// Collective. The finding where a host does not see that folder.
std::optional<host::Finding> check_results_folder(comm::Communicator& control,
                                                  const std::vector<host::Placement>& placements,
                                                  const std::filesystem::path& output);

}  // namespace ranklab::app
