#include "train/gradient_sync.hpp"

#include "train/tensor_view.hpp"

namespace ranklab::train {

void reduce_now(comm::Communicator& comm, const torch::Tensor& tensor, std::vector<ReductionStamp>& stamps) {
    const auto start = Clock::now();
    const auto view = view_of(tensor);
    comm.allreduce(view, comm::ReduceOp::sum);
    const bool seen = view.memory == comm::Memory::host;
    const Clock::time_point never;
    stamps.push_back({view.bytes(), start, start, seen ? start : never, seen ? Clock::now() : never});
}

void drop_gradients(const std::vector<torch::Tensor>& parameters) {
    for (const auto& parameter : parameters) parameter.mutable_grad().reset();
}

void define_gradients(const std::vector<torch::Tensor>& parameters) {
    for (const auto& parameter : parameters) {
        if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
    }
}

}  // namespace ranklab::train
