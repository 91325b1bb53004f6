// The interface of optimizers. Each is one file in optimizers/ and one word in CMakeLists.txt.
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
    bool fused = false;  ///< LibTorch's fused kernel; if there is none, `make` throws OptionError
    /// Ops::ranklab takes effect for fp32 or fp64 on the CPU only.
    nn::Ops ops = nn::Ops::ranklab;
};

/// One kind of state ("momentum_buffer"): a tensor per parameter, in the parameters' order;
/// undefined for parameters without state.
struct OptimizerState {
    std::string name;
    std::vector<torch::Tensor> tensors;
};

class Optimizer {
  public:
    virtual ~Optimizer() = default;
    /// Updates the parameters in place from their gradients; skips parameters without a gradient.
    virtual void step() = 0;
    virtual void set_lr(double lr) = 0;

    /// All state but parameters, gradients and the rate, in the same order each time. Tensors share
    /// the optimizer's storage: clone them to keep them beyond the next step.
    virtual std::vector<OptimizerState> state() = 0;
    /// Copies a state() of the same kind of optimizer, for parameters of the same number and
    /// shapes. For another state throws DataError and changes nothing.
    virtual void load_state(const std::vector<OptimizerState>& state) = 0;
};

/// For load_state: throws DataError unless `state` has these kinds in this order, and its tensors
/// have the number, shapes and types of `like`. Accepts undefined tensors unless `all_defined`.
struct StateKind {
    std::string name;
    const std::vector<torch::Tensor>& like;
};
void check_state(const std::vector<OptimizerState>& state, const std::vector<StateKind>& kinds,
                 bool all_defined = true);

/// Whether ranklab's kernels can update these parameters: fp32 or fp64 on the CPU.
bool suit_our_ops(const std::vector<torch::Tensor>& parameters);

/// The gradient with its elements in the parameter's memory order: a copy if the orders differ (a
/// row-major gradient of a channels-last weight). Undefined without a gradient.
torch::Tensor gradient_in_order(const torch::Tensor& parameter);

struct OptimizerEntry {
    std::string name;
    std::string summary;
    double default_lr = 0.01;  ///< used unless this is the model's default optimizer
    bool has_fused = false;    ///< `make` takes OptimizerConfig::fused
    /// State values per parameter value.
    std::function<int(const OptimizerConfig&)> states;
    std::function<std::unique_ptr<Optimizer>(std::vector<torch::Tensor> parameters,
                                             const OptimizerConfig&)>
        make;
};

/// Generated: all optimizers, in CMake's order.
std::vector<OptimizerEntry> optimizers();

}  // namespace ranklab::train
