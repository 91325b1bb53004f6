// Private to this room: a run as the only one of a file.
#pragma once

#include <filesystem>

#include "base/descriptor.hpp"
#include "results/run.hpp"

namespace ranklab::results {

/// Writes a results file that holds this run and nothing else, in place of one that may be there; on the disk
/// when this returns. Waits for no lock: the name must be the caller's own. Errors as of ResultFile::append.
/// What it returns holds a flock on the file, from before it had its name on, and none where there is no
/// flock.
base::Descriptor write_alone(const std::filesystem::path& path, const Run& run);

}  // namespace ranklab::results
