// One rank hands each rank a part of its own, of any length.
#pragma once

#include <cstddef>
#include <span>

#include "comm/communicator.hpp"

namespace ranklab::comm {

/// Collective. On `root` the first counts[0] elements of `send` go to rank 0, the next counts[1] to rank 1,
/// and so on; counts may differ and be 0, and their sum is send.count, at most 2^31 - 1. The other ranks'
/// `send` and `counts` are not looked at. receive.count is this rank's count, and `receive` does not overlap
/// `send`.
///
/// In host memory: over the MPI backend, or a copy for one rank. Another communicator is refused
/// (OptionError).
void scatterv(Communicator& communicator, const BufferView& send, std::span<const std::size_t> counts,
              const BufferView& receive, int root);

}  // namespace ranklab::comm
