// One blocking allreduce of a tensor, stamped.
#pragma once

#include <vector>

#include "train/reduction_queue.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {

/// Sums over ranks in place. On a device the host's clock sees the launch alone, so that it is no stamp's
/// end.
inline void reduce_now(comm::Communicator& comm, const torch::Tensor& tensor,
                       std::vector<ReductionStamp>& stamps) {
    const auto start = Clock::now();
    const auto view = view_of(tensor);
    comm.allreduce(view, comm::ReduceOp::sum);
    const bool seen = view.memory == comm::Memory::host;
    const Clock::time_point never;
    stamps.push_back({view.bytes(), start, start, seen ? start : never, seen ? Clock::now() : never});
}

}  // namespace ranklab::train
