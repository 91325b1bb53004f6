#include <ATen/ops/_fused_sgd.h>

#include "train/optimizer.hpp"

namespace ranklab::train {
namespace {

// The state of both implementations, so that each can load the other's checkpoint. A parameter's
// momentum buffer begins as a copy of its first gradient. Adding the gradient to a buffer of zeros
// would turn -0 into +0.
class SgdState : public OptimizerWithState {
  public:
    SgdState(const std::vector<torch::Tensor>& parameters, const OptimizerConfig& config)
        : OptimizerWithState(parameters, config.lr,
                             {{"momentum_buffer", std::vector<torch::Tensor>(parameters.size())}},
                             true),
          momentum_(config.momentum) {}

  protected:
    std::vector<torch::Tensor>& buffers_ = states_[0].tensors;
    double momentum_;
};

// torch::optim::SGD's operations, in its order.
class Sgd final : public SgdState {
  public:
    using SgdState::SgdState;

    void step() override {
        const torch::NoGradGuard no_gradients;
        each_gradient([&](std::size_t i, const torch::Tensor& gradient) {
            auto& buffer = buffers_[i];
            if (momentum_ != 0 && buffer.defined())
                buffer.mul_(momentum_).add_(gradient);
            else if (momentum_ != 0)
                buffer = gradient.clone();
            parameters_[i].add_(momentum_ != 0 ? buffer : gradient, -lr_);
        });
    }
};

// LibTorch's fused kernel: one call for all parameters, one pass over memory.
class FusedSgd final : public SgdState {
  public:
    using SgdState::SgdState;

    // The kernel's flag for the first step holds for a whole list: parameters at their first step
    // get a separate call.
    void step() override {
        const torch::NoGradGuard no_gradients;
        Lists going, beginning;
        each_gradient([&](std::size_t i, const torch::Tensor& gradient) {
            const bool begins = momentum_ != 0 && !buffers_[i].defined();
            if (begins) buffers_[i] = torch::empty_like(parameters_[i]);
            add(i, gradient, begins ? beginning : going);
        });
        update(going, false);
        update(beginning, true);
    }

  private:
    void update(const Lists& lists, bool first) {
        if (lists.empty()) return;
        const auto buffers = momentum_ != 0 ? at::TensorList(lists.states[0]) : at::TensorList();
        at::_fused_sgd_(lists.parameters, lists.gradients, buffers, 0.0, momentum_, lr_, 0.0, false,
                        false, first);
    }
};

}  // namespace

OptimizerEntry sgd_entry() {
    return {.name = "sgd",
            .summary = "LibTorch's stochastic gradient descent, with momentum",
            .default_lr = 0.01,
            .has_fused = true,
            .states = [](const OptimizerConfig& c) { return c.momentum != 0 ? 1 : 0; },
            .make = [](const std::vector<torch::Tensor>& parameters,
                       const OptimizerConfig& config) -> std::unique_ptr<Optimizer> {
                if (config.fused) return std::make_unique<FusedSgd>(parameters, config);
                return std::make_unique<Sgd>(parameters, config);
            }};
}

}  // namespace ranklab::train
