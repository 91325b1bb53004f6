// Optimizers: one file in optimizers/ and one word in CMake each.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nn/ops/ops.hpp"

namespace ranklab::train {

struct OptimizerConfig {
    double lr = 0.01;
    double momentum = 0.0;  ///< sgd only
    bool fused = false;     ///< LibTorch's fused kernel; OptionError
                            ///< from `make` where there is none
    /// Ranklab's operations need fp32 or fp64 on the CPU; other cases use LibTorch's.
    nn::Ops ops = nn::Ops::ranklab;
};

/// One kind of state ("momentum_buffer"): a tensor per parameter, in the parameters' order;
/// undefined where the optimizer has none, or none yet.
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

    /// All state of its next steps besides parameters, gradients and the rate, always in one order.
    /// The tensors share storage with the optimizer's own: clone those that must outlive the next
    /// step.
    virtual std::vector<OptimizerState> state() = 0;
    /// Copies the state() of such an optimizer, with as many parameters of the same shapes, and
    /// continues as that one would. DataError for a state of another kind, with nothing changed.
    virtual void load_state(const std::vector<OptimizerState>& state) = 0;
};

/// For load_state: DataError unless `state` has these kinds in this order, each with a tensor for
/// each of its `like`, of the same shape and type or undefined. `all_defined` refuses undefined
/// ones too.
struct StateKind {
    std::string name;
    const std::vector<torch::Tensor>& like;
};
void check_state(const std::vector<OptimizerState>& state, const std::vector<StateKind>& kinds,
                 bool all_defined = true);

/// Whether our own passes over memory can update these: fp32 or fp64 on the CPU.
bool suit_our_ops(const std::vector<torch::Tensor>& parameters);

/// The gradient with its elements in the parameter's memory order, for kernels that walk through
/// both: a copy where the orders differ (a row-major gradient of a channels-last weight). Undefined
/// without a gradient.
torch::Tensor gradient_in_order(const torch::Tensor& parameter);

struct OptimizerEntry {
    std::string name;
    std::string summary;
    double default_lr = 0.01;  ///< where the model's document names another optimizer
    bool has_fused = false;    ///< whether `make` takes OptimizerConfig::fused
    /// How many numbers it keeps between steps for each of the parameters'.
    std::function<int(const OptimizerConfig&)> states;
    std::function<std::unique_ptr<Optimizer>(std::vector<torch::Tensor> parameters,
                                             const OptimizerConfig&)>
        make;
};

/// Generated: all optimizers, in CMake's order.
std::vector<OptimizerEntry> optimizers();

}  // namespace ranklab::train
