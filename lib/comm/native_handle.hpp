// A communicator of the MPI backend as other libraries take it (parallel HDF5), without their users seeing
// mpi.h.
#pragma once

#include "comm/communicator.hpp"

namespace ranklab::comm {

/// A pointer to its MPI_Comm, which lives as long as `communicator`; nullptr where there is no MPI behind it
/// (the backends self and nccl).
const void* native_mpi(const Communicator& communicator);

}  // namespace ranklab::comm
