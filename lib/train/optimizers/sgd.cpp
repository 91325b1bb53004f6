#include <ATen/ops/_fused_sgd.h>
#include <torch/optim/sgd.h>

#include "train/optimizer.hpp"

namespace ranklab::train {
namespace {

class Sgd final : public Optimizer {
  public:
    Sgd(std::vector<torch::Tensor> parameters, const OptimizerConfig& config)
        : parameters_(parameters),
          optimizer_(std::move(parameters),
                     torch::optim::SGDOptions(config.lr).momentum(config.momentum)) {}

    void step() override { optimizer_.step(); }
    void set_lr(double lr) override {
        for (auto& group : optimizer_.param_groups()) group.options().set_lr(lr);
    }

    // LibTorch makes a parameter's buffer at its first step with a gradient; until then there is
    // none, and zeros in its place would differ: the first step copies the gradient with the signs
    // of zeros.
    std::vector<OptimizerState> state() override {
        OptimizerState buffers{"momentum_buffer", {}};
        for (const auto& parameter : parameters_) {
            const auto found = optimizer_.state().find(parameter.unsafeGetTensorImpl());
            buffers.tensors.push_back(found == optimizer_.state().end()
                                          ? torch::Tensor()
                                          : static_cast<Slot&>(*found->second).momentum_buffer());
        }
        return {buffers};
    }
    void load_state(const std::vector<OptimizerState>& state) override {
        check_state(state, {{"momentum_buffer", parameters_}}, false);
        optimizer_.state().clear();
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const auto& buffer = state[0].tensors[i];
            if (!buffer.defined()) continue;
            auto slot = std::make_unique<Slot>();
            slot->momentum_buffer(buffer.detach().to(parameters_[i].device(), false, true));
            optimizer_.state()[parameters_[i].unsafeGetTensorImpl()] = std::move(slot);
        }
    }

  private:
    using Slot = torch::optim::SGDParamState;

    std::vector<torch::Tensor> parameters_;
    torch::optim::SGD optimizer_;
};

// Makes Sgd's steps by LibTorch's fused kernel: one call for all parameters, one pass over memory.
// Its state is Sgd's, so that a checkpoint fits both.
class FusedSgd final : public Optimizer {
  public:
    FusedSgd(std::vector<torch::Tensor> parameters, const OptimizerConfig& config)
        : parameters_(std::move(parameters)),
          buffers_(parameters_.size()),
          lr_(config.lr),
          momentum_(config.momentum) {}

    // The kernel treats a whole list as being at its first step or not: parameters at theirs get a
    // separate call.
    void step() override {
        const torch::NoGradGuard no_gradients;
        Lists going;
        Lists beginning;
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const torch::Tensor gradient = gradient_in_order(parameters_[i]);
            if (!gradient.defined()) continue;
            Lists& lists = momentum_ == 0 || buffers_[i].defined() ? going : beginning;
            lists.parameters.push_back(parameters_[i]);
            lists.gradients.push_back(gradient);
            if (momentum_ == 0) continue;
            if (!buffers_[i].defined()) buffers_[i] = torch::empty_like(parameters_[i]);
            lists.buffers.push_back(buffers_[i]);
        }
        update(going, false);
        update(beginning, true);
    }
    void set_lr(double lr) override { lr_ = lr; }

    std::vector<OptimizerState> state() override { return {{"momentum_buffer", buffers_}}; }
    void load_state(const std::vector<OptimizerState>& state) override {
        check_state(state, {{"momentum_buffer", parameters_}}, false);
        const torch::NoGradGuard no_gradients;
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const auto& buffer = state[0].tensors[i];
            buffers_[i] = buffer.defined() ? torch::empty_like(parameters_[i]).copy_(buffer)
                                           : torch::Tensor();
        }
    }

  private:
    struct Lists {
        std::vector<torch::Tensor> parameters, gradients, buffers;
    };

    void update(const Lists& lists, bool first) {
        if (lists.parameters.empty()) return;
        at::_fused_sgd_(lists.parameters, lists.gradients, lists.buffers, 0.0, momentum_, lr_, 0.0,
                        false, false, first);
    }

    std::vector<torch::Tensor> parameters_;
    std::vector<torch::Tensor> buffers_;  // undefined before a parameter's first step
    double lr_;
    double momentum_;
};

}  // namespace

OptimizerEntry sgd_entry() {
    return {.name = "sgd",
            .summary = "LibTorch's stochastic gradient descent, with momentum",
            .default_lr = 0.01,
            .has_fused = true,
            .states = [](const OptimizerConfig& c) { return c.momentum != 0 ? 1 : 0; },
            .make = [](std::vector<torch::Tensor> parameters,
                       const OptimizerConfig& config) -> std::unique_ptr<Optimizer> {
                if (config.fused) return std::make_unique<FusedSgd>(std::move(parameters), config);
                return std::make_unique<Sgd>(std::move(parameters), config);
            }};
}

}  // namespace ranklab::train
