#include "train/gradient_sync.hpp"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include "train/blocking_sync.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

using torch::autograd::variable_list;

class ReadyHook final : public torch::autograd::FunctionPostHook {
  public:
    ReadyHook(std::function<void(std::size_t)>& ready, std::size_t index)
        : ready_(ready), index_(index) {}
    variable_list operator()(const variable_list& outputs, const variable_list&) override {
        ready_(index_);
        return outputs;
    }

  private:
    std::function<void(std::size_t)>& ready_;
    std::size_t index_;
};

}  // namespace

// Keeps a parameter's gradient accumulator alive. The parameter holds only a weak pointer, so
// autograd would otherwise make a new accumulator, without our hook.
struct GradientHooks::Hooked {
    // A shared_ptr in LibTorch 2.11, an intrusive_ptr in 2.15.
    decltype(torch::autograd::impl::grad_accumulator({})) accumulator;
    std::uintptr_t key = 0;
};

GradientHooks::GradientHooks(const std::vector<torch::Tensor>& parameters,
                             std::function<void(std::size_t)> ready)
    : ready_(std::move(ready)) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        Hooked hooked{.accumulator = torch::autograd::impl::grad_accumulator(parameters[i])};
        hooked.key = hooked.accumulator->add_post_hook(std::make_unique<ReadyHook>(ready_, i));
        hooked_.push_back(std::move(hooked));
    }
}

GradientHooks::~GradientHooks() {
    for (const auto& hooked : hooked_) hooked.accumulator->del_post_hook(hooked.key);
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
    for (const auto& parameter : parameters) {
        if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
    }
}

}  // namespace ranklab::train
