// Private to lib/hdf5: MPI-IO for files of several ranks. With an HDF5 without MPI these functions
// throw or do nothing.
#pragma once

#include "hdf5/dataset_file.hpp"
#include "hdf5/layout.hpp"

namespace ranklab::hdf5 {

/// Sets the MPI-IO driver in file access properties. Throws OptionError for a hint that MPI
/// refuses, EnvironmentError if HDF5 has no MPI.
void use_mpi_io(const Id& access, const DatasetFileOptions& options);

/// Transfer properties for MPI-IO.
Id mpi_transfer(Requested requested);

/// What HDF5 reports of the last transfer with these properties.
Transfer outcome_of(const Id& transfer, Requested requested);

/// Facts: "implementation" (of MPI-IO), and "hint KEY" for each hint in effect.
Facts describe_mpi_io(const Id& file, const std::string& path);

}  // namespace ranklab::hdf5
