#include <torch/optim/sgd.h>

#include "train/optimizer.hpp"

namespace ranklab::train {
namespace {

class Sgd final : public Optimizer {
  public:
    Sgd(std::vector<torch::Tensor> parameters, const OptimizerConfig& config)
        : parameters_(parameters),
          optimizer_(std::move(parameters), torch::optim::SGDOptions(config.lr).momentum(config.momentum)) {}

    void step() override { optimizer_.step(); }
    void set_lr(double lr) override {
        for (auto& group : optimizer_.param_groups()) group.options().set_lr(lr);
    }

    // LibTorch makes a parameter's buffer at its first step with a gradient; until then there is none, and
    // zeros in its place would not be the same: the first step copies the gradient, signs of zeros too.
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
        check_state(state, {"momentum_buffer"}, parameters_, false);
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

}  // namespace

OptimizerEntry sgd_entry() {
    return {.name = "sgd",
            .summary = "LibTorch's stochastic gradient descent, with --momentum",
            .default_lr = 0.01,
            .make = [](std::vector<torch::Tensor> parameters,
                       const OptimizerConfig& config) -> std::unique_ptr<Optimizer> {
                return std::make_unique<Sgd>(std::move(parameters), config);
            }};
}

}  // namespace ranklab::train
