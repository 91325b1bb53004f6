// The MPI backend's operations that are called many times. Private to comm.
#pragma once

#include <memory>

#include "comm/operation.hpp"

namespace ranklab::comm {

/// Of a communicator of the MPI backend, which outlives it.
std::unique_ptr<Prepared> prepare_mpi(Communicator& data, const Transfer& transfer);

}  // namespace ranklab::comm
