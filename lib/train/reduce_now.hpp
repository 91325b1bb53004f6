// One blocking allreduce of a tensor, stamped.
#pragma once

#include <vector>

#include "train/reduction_queue.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {

/// Sums over ranks in place. On a device the host's clock sees the launch alone, and the stamp says so.
inline void reduce_now(comm::Communicator& comm, const torch::Tensor& tensor,
                       std::vector<ReductionStamp>& stamps) {
    const auto start = Clock::now();
    const auto view = view_of(tensor);
    comm.allreduce(view, comm::ReduceOp::sum);
    stamps.push_back({view.bytes(), start, start, start, Clock::now(), view.memory == comm::Memory::host});
}

}  // namespace ranklab::train
