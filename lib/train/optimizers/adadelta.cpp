#include <ATen/Parallel.h>

#include <cmath>

#include "base/error.hpp"
#include "train/optimizer.hpp"

namespace ranklab::train {
namespace {

// Adadelta (Zeiler 2012, arXiv:1212.5701) as PyTorch defines it; LibTorch's C++ API has none.
//   v = rho v + (1 - rho) g^2;  d = sqrt(u + eps) / sqrt(v + eps) g;  u = rho u + (1 - rho) d^2;  p = p - lr
//   d
// Ours makes one pass over memory per parameter, where LibTorch's operations on whole tensors make eight.
class Adadelta final : public Optimizer {
  public:
    Adadelta(std::vector<torch::Tensor> parameters, const OptimizerConfig& config)
        : parameters_(std::move(parameters)),
          ours_(config.ops == nn::Ops::ranklab && suit_our_ops(parameters_)),
          lr_(config.lr) {
        for (const auto& parameter : parameters_) {
            square_average_.push_back(torch::zeros_like(parameter).detach());
            delta_average_.push_back(torch::zeros_like(parameter).detach());
        }
    }

    void step() override {
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const torch::Tensor gradient = gradient_in_order(parameters_[i]);
            if (!gradient.defined()) continue;
            if (!ours_) {
                update_by_tensors(i, gradient);
            } else if (parameters_[i].scalar_type() == torch::kDouble) {
                update<double>(i, gradient);
            } else {
                update<float>(i, gradient);
            }
        }
    }
    void set_lr(double lr) override { lr_ = lr; }

    std::vector<OptimizerState> state() override {
        return {{"square_average", square_average_}, {"delta_average", delta_average_}};
    }
    void load_state(const std::vector<OptimizerState>& state) override {
        check_state(state, {{"square_average", parameters_}, {"delta_average", parameters_}});
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            square_average_[i].copy_(state[0].tensors[i]);
            delta_average_[i].copy_(state[1].tensors[i]);
        }
    }

  private:
    static constexpr double kRho = 0.9;
    static constexpr double kEps = 1e-6;
    static constexpr std::int64_t kGrain = 1 << 14;  // elements a thread takes at least

    // The formula as it stands, in the order of torch.optim.Adadelta.
    void update_by_tensors(std::size_t i, const torch::Tensor& g) {
        const torch::NoGradGuard no_gradients;
        square_average_[i].mul_(kRho).addcmul_(g, g, 1 - kRho);
        const torch::Tensor delta =
            delta_average_[i].add(kEps).sqrt_().div_(square_average_[i].add(kEps).sqrt_()).mul_(g);
        delta_average_[i].mul_(kRho).addcmul_(delta, delta, 1 - kRho);
        parameters_[i].add_(delta, -lr_);
    }

    template <class T>
    void update(std::size_t i, const torch::Tensor& gradient) {
        T* const p = parameters_[i].mutable_data_ptr<T>();
        T* const v = square_average_[i].mutable_data_ptr<T>();
        T* const u = delta_average_[i].mutable_data_ptr<T>();
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

    std::vector<torch::Tensor> parameters_;
    std::vector<torch::Tensor> square_average_;
    std::vector<torch::Tensor> delta_average_;
    bool ours_;
    double lr_;
};

}  // namespace

OptimizerEntry adadelta_entry() {
    return {.name = "adadelta",
            .summary = "Adadelta, rho 0.9, eps 1e-6",
            .default_lr = 1.0,
            .make = [](std::vector<torch::Tensor> parameters,
                       const OptimizerConfig& config) -> std::unique_ptr<Optimizer> {
                if (config.fused)
                    throw base::OptionError("LibTorch has no fused kernel for adadelta; leave it out",
                                            {"fused-optimizer"});
                return std::make_unique<Adadelta>(std::move(parameters), config);
            }};
}

}  // namespace ranklab::train
