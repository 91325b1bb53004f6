#include "train/gradient_sync.hpp"

#include "train/blocking_sync.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {

Owned GradientSync::owned(const std::vector<torch::Tensor>& parameters) const {
    Owned all{.tensors = parameters, .parameter_of = {}, .sum = {}};
    for (std::size_t i = 0; i < parameters.size(); ++i) all.parameter_of.push_back(i);
    return all;
}

void BlockingSync::begin_step(const std::vector<torch::Tensor>&, bool) {
    if (fresh_) clear();
    fresh_ = false;
}

void BlockingSync::finish() {
    stamps_.clear();
    reduce();
    fresh_ = true;
}

void BlockingSync::clear() {
    drop_gradients(parameters_);
}

void BlockingSync::reduce_now(comm::Communicator& comm, const torch::Tensor& tensor) {
    const auto start = Clock::now();
    const auto view = view_of(tensor);
    comm.allreduce(view, comm::ReduceOp::sum);
    const bool seen = view.memory == comm::Memory::host;
    const Clock::time_point never;
    stamps_.push_back(
        {view.bytes(), start, start, seen ? start : never, seen ? Clock::now() : never});
}

void drop_gradients(const std::vector<torch::Tensor>& parameters) {
    for (const auto& parameter : parameters) parameter.mutable_grad().reset();
}

void define_gradients(const std::vector<torch::Tensor>& parameters) {
    for (const auto& parameter : parameters)
        if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
}

}  // namespace ranklab::train
