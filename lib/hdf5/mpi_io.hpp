// Private to this room: the MPI part of files of several ranks. On an HDF5 without MPI these
// functions refuse or do nothing, so that the rest compiles.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "hdf5/check.hpp"
#include "hdf5/record_file.hpp"

namespace ranklab::hdf5 {

/// Whether `mpi` points to an MPI_Comm of several ranks. One rank needs no MPI-IO: it writes the
/// same file.
bool several_ranks(const void* mpi);

/// Puts the MPI-IO driver and its settings into the file access properties. `serial`: the way to
/// let one rank write, for the error of an HDF5 without MPI.
void use_mpi_io(const Id& access, const RecordFileOptions& options,
                const base::Settings& serial = {});

/// Transfer properties through MPI-IO.
Id mpi_transfer(Requested requested);

/// HDF5's account of the last transfer by these properties.
Transfer outcome_of(const Id& transfer, Requested requested);

/// {key, value}: the implementation, where it is known, and the hints in effect ("hint KEY").
std::vector<std::pair<std::string, std::string>> describe_mpi_io(const Id& file,
                                                                 const std::string& path);

}  // namespace ranklab::hdf5
