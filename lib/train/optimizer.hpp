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

/// One kind of state ("momentum_buffer"): a tensor per parameter, in the parameters' order; undefined where
/// the optimizer keeps none, or none yet.
struct OptimizerState {
    std::string name;
    std::vector<torch::Tensor> tensors;
};

class Optimizer {
  public:
    virtual ~Optimizer() = default;
    /// Updates the parameters in place from their gradients; a parameter without one is left alone.
    virtual void step() = 0;
    virtual void set_lr(double lr) = 0;

    /// All that its next steps depend on besides parameters, gradients and the rate, always in one order. The
    /// tensors share storage with the optimizer's own: clone what has to outlive the next step.
    virtual std::vector<OptimizerState> state() = 0;
    /// Takes a copy of what state() of such an optimizer, with as many parameters of the same shapes, gave:
    /// it goes on as that one would have. DataError for a state of another kind, with nothing changed.
    virtual void load_state(const std::vector<OptimizerState>& state) = 0;
};

/// For load_state: DataError unless `state` has these kinds in this order, with one tensor for each parameter
/// that is undefined or of the parameter's shape and type. `all_defined` refuses undefined ones too.
void check_state(const std::vector<OptimizerState>& state, const std::vector<std::string>& names,
                 const std::vector<torch::Tensor>& parameters, bool all_defined);

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
