// Private to this room: MPI-IO for files of several ranks. In a build on HDF5 without MPI these
// functions throw or do nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "hdf5/check.hpp"
#include "hdf5/record_file.hpp"

namespace ranklab::hdf5 {

/// Whether `mpi` points to an MPI_Comm of several ranks. One rank writes the same file without
/// MPI-IO.
bool several_ranks(const void* mpi);

/// Adds the MPI-IO driver and its settings to the file access properties. An HDF5 without MPI
/// throws EnvironmentError, which names `serial`, the settings that let one rank write.
void use_mpi_io(const Id& access, const RecordFileOptions& options,
                const base::Settings& serial = {});

/// Transfer properties for MPI-IO.
Id mpi_transfer(Requested requested);

/// How HDF5 made the last transfer with these properties.
Transfer outcome_of(const Id& transfer, Requested requested);

/// Keys and values: the MPI-IO implementation, if known, and the hints in effect ("hint KEY").
std::vector<std::pair<std::string, std::string>> describe_mpi_io(const Id& file,
                                                                 const std::string& path);

}  // namespace ranklab::hdf5
