// Every rank sends a part of its own to every rank: the transpose of data that is spread over ranks.
#pragma once

#include <cstddef>
#include <span>

#include "comm/communicator.hpp"

namespace ranklab::comm {

/// Collective. The first send_counts[0] elements of `send` go to rank 0, the next send_counts[1] to rank 1,
/// and so on; `receive` gets what the ranks sent here, rank 0's first, receive_counts[r] elements from rank
/// r. The counts may differ, be 0, and exceed what MPI's int counts can say; each rank's receive_counts[r]
/// is rank r's send_counts[this rank]. The buffers do not overlap, and their counts are the sums.
///
/// In host memory: over the MPI backend, or a copy for one rank. Another communicator is refused
/// (OptionError): what is measured over NCCL is not transposed through here.
void alltoallv(Communicator& communicator, const BufferView& send, std::span<const std::size_t> send_counts,
               const BufferView& receive, std::span<const std::size_t> receive_counts);

}  // namespace ranklab::comm
