// Private to this room: MPI-IO for files of several ranks. With an HDF5 without MPI these functions
// throw or do nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "hdf5/check.hpp"
#include "hdf5/transfer.hpp"

namespace ranklab::hdf5 {

struct MpiIo {
    const void* mpi = nullptr;  ///< an MPI_Comm
    std::vector<std::pair<std::string, std::string>> hints = {};
    bool collective_metadata = true;
    bool collective_opening = true;
};

/// True if `mpi` points to an MPI_Comm of several ranks. One rank writes the same file without
/// MPI-IO.
bool several_ranks(const void* mpi);

/// Sets the MPI-IO driver in file access properties. Throws OptionError for a hint that MPI
/// refuses, EnvironmentError with the settings `serial`, which let one rank write, if HDF5 has no
/// MPI.
void use_mpi_io(const Id& access, const MpiIo& options, const base::Settings& serial = {});

/// Transfer properties for MPI-IO.
Id mpi_transfer(Requested requested);

/// What HDF5 reports of the last transfer with these properties.
Transfer outcome_of(const Id& transfer, Requested requested);

/// {key, value}: the implementation, and the hints in effect ("hint KEY").
std::vector<std::pair<std::string, std::string>> describe_mpi_io(const Id& file,
                                                                 const std::string& path);

}  // namespace ranklab::hdf5
