// Messages from one rank to another, or to each, in host memory, over the MPI backend. A message
// has at most 2^31 - 1 elements.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "comm/communicator.hpp"

namespace ranklab::comm {

inline constexpr int kAnyRank = -1;

/// Returns when `message` may be written to again: a short one at once, a long one perhaps only
/// when the other rank receives it. Messages of one tag between two ranks stay in order.
void send(Communicator& communicator, const BufferView& message, int to, int tag);

/// Waits for a message of that tag from rank `from`, or from kAnyRank, into `buffer`, whose count
/// is the most it may have (a longer one throws MpiError), and says who sent it. The waiting takes
/// a whole core.
int receive(Communicator& communicator, const BufferView& buffer, int from, int tag);

/// Returns the sender of the next such message, which is still to be received; nullopt where none
/// has arrived. Does not wait, and gives MPI a chance to progress.
std::optional<int> probe(Communicator& communicator, int from, int tag);

/// Collective. On `root` the first counts[0] elements of `send` go to rank 0, the next counts[1] to
/// rank 1, and so on; counts may differ and be 0, and their sum is send.count, at most 2^31 - 1.
/// The other ranks' `send` and `counts` are not looked at. receive.count is this rank's count, and
/// `receive` does not overlap `send`. For one rank without MPI it is a copy.
void scatterv(Communicator& communicator, const BufferView& send,
              std::span<const std::size_t> counts, const BufferView& receive, int root);

/// A pointer to its MPI_Comm, for other libraries (parallel HDF5), which lives as long as
/// `communicator`; nullptr where there is no MPI behind it (the backends self and nccl).
const void* native_mpi(const Communicator& communicator);

}  // namespace ranklab::comm
