// One blocking allreduce of a tensor, stamped.
#pragma once

#include <vector>

#include "train/reduction_queue.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {

/// Sums over ranks in place. On a device nothing is stamped: the host's clock would see the launch alone.
inline void reduce_now(comm::Communicator& comm, const torch::Tensor& tensor,
                       std::vector<ReductionStamp>& stamps) {
    const auto start = Clock::now();
    const auto view = view_of(tensor);
    comm.allreduce(view, comm::ReduceOp::sum);
    if (view.memory == comm::Memory::host)
        stamps.push_back({view.bytes(), start, start, start, Clock::now()});
}

}  // namespace ranklab::train
