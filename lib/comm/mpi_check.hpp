// The one check of MPI calls. Private to comm.
#pragma once

#include <mpi.h>

namespace ranklab::comm {

/// Throws MpiError with the call and MPI's own text unless rc is MPI_SUCCESS.
void mpi_check(int rc, const char* call);

}  // namespace ranklab::comm
