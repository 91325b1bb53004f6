// Private to this room: all that a record file has to do with MPI. On an HDF5 without MPI these functions
// refuse or do nothing, so that the rest compiles.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hdf5/check.hpp"
#include "hdf5/record_file.hpp"

namespace ranklab::hdf5 {

/// Puts the MPI-IO driver and its settings into the file access properties.
void use_mpi_io(const Id& access, const RecordFileOptions& options);

/// Transfer properties through MPI-IO.
Id mpi_transfer(Requested requested);

/// What HDF5 says of the last transfer by these properties.
Transfer outcome_of(const Id& transfer, Requested requested);

/// {key, value}: the implementation, where it can be told, the hints in effect ("hint KEY"), and Open MPI's
/// own settings ("parameter KEY").
std::vector<std::pair<std::string, std::string>> describe_mpi_io(const Id& file, const std::string& path);

}  // namespace ranklab::hdf5
