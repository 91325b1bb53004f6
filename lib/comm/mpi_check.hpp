// The one check of MPI calls. Private to comm.
#pragma once

#include <mpi.h>

namespace ranklab::comm {

/// Throws MpiError with the call and MPI's own text unless rc is MPI_SUCCESS.
void mpi_check(int rc, const char* call);
/// mpi_check of a call that waits for other ranks: its end counts as progress.
void mpi_done(int rc, const char* call);

}  // namespace ranklab::comm
