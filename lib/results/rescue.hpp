// The last resort when a run is measured but cannot be stored where it should be.
#pragma once

#include <filesystem>

#include "results/run.hpp"

namespace ranklab::results {

/// Stores the run alone in a fresh results file in the system's temporary folder (else the working
/// folder, the home folder or /dev/shm) and returns its path. EnvironmentError naming all places
/// tried if none takes it.
std::filesystem::path write_rescue(const Run& run);

}  // namespace ranklab::results
