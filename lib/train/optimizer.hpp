// Optimizers: one file in optimizers/ and one word in CMake each.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ranklab::train {

struct OptimizerConfig {
    double lr = 0.01;
    double momentum = 0.0;  ///< sgd only
};

class Optimizer {
  public:
    virtual ~Optimizer() = default;
    /// Updates the parameters in place from their gradients; a parameter without one is left alone.
    virtual void step() = 0;
    virtual void set_lr(double lr) = 0;
};

struct OptimizerEntry {
    std::string name;
    std::string summary;
    double default_lr = 0.01;  ///< where the model's document names another optimizer
    std::function<std::unique_ptr<Optimizer>(std::vector<torch::Tensor> parameters, const OptimizerConfig&)>
        make;
};

/// Generated: all optimizers, in CMake's order.
std::vector<OptimizerEntry> optimizers();

/// StepLR(step_size = 1, gamma): base * gamma^epoch.
double step_lr(double base, double gamma, std::int64_t epoch);

}  // namespace ranklab::train
