#include <ATen/Parallel.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>

#include <cmath>

#include "base/error.hpp"
#include "train/optimizer.hpp"

namespace ranklab::train {
namespace {

// Adadelta (Zeiler 2012, arXiv:1212.5701) as PyTorch defines it, missing in LibTorch's C++ API.
//   v = rho v + (1 - rho) g^2;  d = sqrt(u + eps) / sqrt(v + eps) g;
//   u = rho u + (1 - rho) d^2;  p = p - lr d
// On the CPU ranklab's loop makes one pass over memory per parameter; LibTorch's operations on
// whole tensors would make eight passes. On a GPU LibTorch's operations on lists (_foreach_) run
// one kernel for many parameters.
class Adadelta final : public OptimizerWithState {
  public:
    Adadelta(const std::vector<torch::Tensor>& parameters, const OptimizerConfig& config)
        : OptimizerWithState(
              parameters, config.lr,
              {{"square_average", zeros_of(parameters)}, {"delta_average", zeros_of(parameters)}}),
          ours_(config.ops == nn::Ops::ranklab && suit_our_ops(parameters_)) {}

    void step() override {
        Lists lists;
        each_gradient([&](std::size_t i, const torch::Tensor& gradient) {
            if (!ours_)
                add(i, gradient, lists);
            else if (gradient.scalar_type() == torch::kDouble)
                update<double>(i, gradient);
            else
                update<float>(i, gradient);
        });
        if (!lists.empty()) update_by_lists(lists);
    }

  private:
    static constexpr double kRho = 0.9;
    static constexpr double kEps = 1e-6;
    static constexpr std::int64_t kGrain = 1 << 14;  // minimum of elements per thread

    // Computes the formula by LibTorch's operations, in the order of torch.optim.Adadelta.
    void update_by_lists(const Lists& lists) {
        const torch::NoGradGuard no_gradients;
        const auto &squares = lists.states[0], &deltas = lists.states[1];
        at::_foreach_mul_(squares, kRho);
        at::_foreach_addcmul_(squares, lists.gradients, lists.gradients, 1 - kRho);
        auto divisor = at::_foreach_add(squares, kEps);
        at::_foreach_sqrt_(divisor);
        auto delta = at::_foreach_add(deltas, kEps);
        at::_foreach_sqrt_(delta);
        at::_foreach_div_(delta, divisor);
        at::_foreach_mul_(delta, lists.gradients);
        at::_foreach_mul_(deltas, kRho);
        at::_foreach_addcmul_(deltas, delta, delta, 1 - kRho);
        at::_foreach_add_(lists.parameters, delta, -lr_);
    }

    template <class T>
    void update(std::size_t i, const torch::Tensor& gradient) {
        T* const p = parameters_[i].mutable_data_ptr<T>();
        T* const v = states_[0].tensors[i].mutable_data_ptr<T>();
        T* const u = states_[1].tensors[i].mutable_data_ptr<T>();
        const T* const g = gradient.const_data_ptr<T>();
        const T lr = static_cast<T>(lr_);
        at::parallel_for(0, gradient.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
            constexpr T rho = static_cast<T>(kRho);
            constexpr T rest = static_cast<T>(1 - kRho);
            constexpr T eps = static_cast<T>(kEps);
#pragma omp simd
            for (std::int64_t k = begin; k < end; ++k) {
                const T square = v[k] * rho + rest * g[k] * g[k];
                const T delta = std::sqrt(u[k] + eps) / std::sqrt(square + eps) * g[k];
                u[k] = u[k] * rho + rest * delta * delta;
                v[k] = square;
                p[k] -= lr * delta;
            }
        });
    }

    bool ours_;
};

}  // namespace

OptimizerEntry adadelta_entry() {
    return {.name = "adadelta",
            .summary = "Adadelta, rho 0.9, eps 1e-6",
            .default_lr = 1.0,
            .states = [](const OptimizerConfig&) { return 2; },
            .make = [](const std::vector<torch::Tensor>& parameters,
                       const OptimizerConfig& config) -> std::unique_ptr<Optimizer> {
                if (config.fused)
                    throw base::OptionError(
                        "LibTorch has no fused kernel for adadelta; leave the option out",
                        {"fused-optimizer"});
                return std::make_unique<Adadelta>(parameters, config);
            }};
}

}  // namespace ranklab::train
