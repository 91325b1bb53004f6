// Messages between ranks in host memory, over the MPI backend. A message has at most 2^31 - 1
// elements.
#pragma once

#include <cstddef>
#include <span>

#include "comm/communicator.hpp"

namespace ranklab::comm {

/// Returns when `message` may be overwritten: a short one at once, a long one perhaps only once the
/// other rank receives it. Messages of one tag between two ranks stay in order.
void send(Communicator& communicator, const BufferView& message, int to, int tag);

/// Receives a message of that tag from rank `from`. Throws base::Error if the message is longer
/// than `buffer`. Busy-waits.
void receive(Communicator& communicator, const BufferView& buffer, int from, int tag);

/// MPI_Scatterv: on `root`, counts[r] elements of `send` go to rank r, in order of ranks; the
/// counts sum up to send.count. Other ranks' `send` and `counts` are ignored. receive.count is this
/// rank's count; `receive` must not overlap `send`. Collective.
void scatterv(Communicator& communicator, const BufferView& send,
              std::span<const std::size_t> counts, const BufferView& receive, int root);

/// Returns the communicator's MPI_Comm, for parallel HDF5, valid as long as `communicator`; nullptr
/// for other backends.
const void* native_mpi(const Communicator& communicator);

}  // namespace ranklab::comm
