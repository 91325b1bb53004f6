#include <torch/optim/sgd.h>

#include "train/optimizer.hpp"

namespace ranklab::train {
namespace {

class Sgd final : public Optimizer {
  public:
    Sgd(std::vector<torch::Tensor> parameters, const OptimizerConfig& config)
        : optimizer_(std::move(parameters), torch::optim::SGDOptions(config.lr).momentum(config.momentum)) {}

    void step() override { optimizer_.step(); }
    void set_lr(double lr) override {
        for (auto& group : optimizer_.param_groups()) group.options().set_lr(lr);
    }

  private:
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
