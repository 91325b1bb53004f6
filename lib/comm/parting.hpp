// How the ranks come to MPI_Finalize where one may not be inside a call of MPI while another begins it.
// Private to comm.
#pragma once

#include "comm/communicator.hpp"

namespace ranklab::comm {

/// Collective. Whether this job's MPI needs part_without_mpi() at its end, on any rank. MPICH over UCX (seen
/// of 4.0.2 with UCX 1.13 over TCP) closes each connection by a question that the other side answers within
/// calls of MPI. A rank that was answered while the other one was still in an earlier call does not answer
/// any more: it waits for all ranks outside of UCX, and MPI_Finalize never returns.
bool must_part_without_mpi(Communicator& control);

/// Collective. Calls MPI first, and returns once no rank is inside a call of MPI: sockets tell so, up
/// a tree of the ranks and down again. Each rank waits for its own few neighbours; returns early where one
/// does not come within `patience_s`.
void part_without_mpi(Communicator& control, double patience_s);

}  // namespace ranklab::comm
