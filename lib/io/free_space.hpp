// Whether there is room for a file that HDF5 is to write. HDF5 1.10 does not survive a write that fails
// (docs/adr/0001), so it is found out before.
#pragma once

#include <cstdint>
#include <filesystem>

#include "io/job.hpp"

namespace ranklab::io {

/// What data.h5 takes at most: values in whole chunks, alignment, and the library's own bookkeeping.
std::uint64_t hdf5_file_bytes(const Job& job);

/// Makes `path` a file, empty again at the end, that has had room for `bytes`. The sentence of
/// base::throw_errno where there is none, or the file cannot be made: EnvironmentError, or OptionError for a
/// path that is wrong. The file is removed then.
void check_free_space(const std::filesystem::path& path, std::uint64_t bytes);

}  // namespace ranklab::io
