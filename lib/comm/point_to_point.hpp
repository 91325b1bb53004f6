// Messages from one rank to another, or to each, in host memory.
//
// Over the MPI backend; for one rank without MPI (the backend 'self') a message to itself is a copy that
// waits to be received. Another communicator is refused (OptionError). A message has at most 2^31 - 1
// elements.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "comm/communicator.hpp"

namespace ranklab::comm {

inline constexpr int kAnyRank = -1;

/// A message that has come, or is about to: who sent it, and how many elements it has.
struct Arrival {
    int source = 0;
    std::size_t count = 0;
};

/// Returns when `message` may be written to again: a short one at once, a long one perhaps only when the
/// other rank receives it. Messages of one tag between two ranks stay in order.
void send(Communicator& communicator, const BufferView& message, int to, int tag);

/// Waits for a message of that tag from rank `from`, or from kAnyRank, into `buffer`, whose count is the most
/// it may have (a longer one throws MpiError). With MPI the waiting takes a whole core.
Arrival receive(Communicator& communicator, const BufferView& buffer, int from, int tag);

/// The next such message, still to be received; nothing where none has come yet. Its count is in elements of
/// `dtype`. Does not wait, and gives MPI a chance to progress.
std::optional<Arrival> probe(Communicator& communicator, int from, int tag, DType dtype);

/// Collective. On `root` the first counts[0] elements of `send` go to rank 0, the next counts[1] to rank 1,
/// and so on; counts may differ and be 0, and their sum is send.count, at most 2^31 - 1. The other ranks'
/// `send` and `counts` are not looked at. receive.count is this rank's count, and `receive` does not overlap
/// `send`.
///
/// In host memory: over the MPI backend, or a copy for one rank. Another communicator is refused
/// (OptionError).
void scatterv(Communicator& communicator, const BufferView& send, std::span<const std::size_t> counts,
              const BufferView& receive, int root);

/// A pointer to its MPI_Comm, for other libraries (parallel HDF5), which lives as long as `communicator`;
/// nullptr where there is no MPI behind it (the backends self and nccl).
const void* native_mpi(const Communicator& communicator);

}  // namespace ranklab::comm
