#include <ATen/Parallel.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adam.h>

#include <cmath>

#include "train/optimizer.hpp"

namespace ranklab::train {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEps = 1e-8;
constexpr std::int64_t kGrain = 1 << 14;  // minimum of elements per thread

// The factors of a parameter's k-th step: p -= size * m / (sqrt(v) / root + eps).
struct StepFactors {
    double size;
    double root;
    StepFactors(double lr, double k)
        : size(lr / (1 - std::pow(kBeta1, k))), root(std::sqrt(1 - std::pow(kBeta2, k))) {}
};

// Adam (Kingma and Ba 2015, arXiv:1412.6980, algorithm 1) in the order of operations of
// torch.optim.Adam:
//   m += (1 - b1) (g - m);  v = b2 v + (1 - b2) g^2;
//   p -= lr / (1 - b1^k) m / (sqrt(v) / sqrt(1 - b2^k) + eps)
// k counts a parameter's steps with a gradient. All implementations share this state, so that any
// of them can load another's checkpoint.
class AdamState : public Optimizer {
  public:
    void set_lr(double lr) override { lr_ = lr; }
    std::vector<OptimizerState> state() override {
        return {{"exp_avg", average_}, {"exp_avg_sq", square_average_}, {"step", steps_}};
    }
    void load_state(const std::vector<OptimizerState>& state) override {
        check_state(state,
                    {{"exp_avg", parameters_}, {"exp_avg_sq", parameters_}, {"step", steps_}});
        const torch::NoGradGuard no_gradients;
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            average_[i].copy_(state[0].tensors[i]);
            square_average_[i].copy_(state[1].tensors[i]);
            steps_[i].copy_(state[2].tensors[i]);
        }
    }

  protected:
    AdamState(std::vector<torch::Tensor> parameters, double lr, bool counts_beside_parameters)
        : parameters_(std::move(parameters)), lr_(lr) {
        for (const auto& parameter : parameters_) {
            average_.push_back(torch::zeros_like(parameter).detach());
            square_average_.push_back(torch::zeros_like(parameter).detach());
            const torch::Device place = counts_beside_parameters ? parameter.device() : torch::kCPU;
            steps_.push_back(torch::zeros({}, torch::TensorOptions(torch::kFloat).device(place)));
        }
    }

    std::vector<torch::Tensor> parameters_;
    std::vector<torch::Tensor> average_;
    std::vector<torch::Tensor> square_average_;
    std::vector<torch::Tensor> steps_;  // k of each parameter, fp32 as in PyTorch
    double lr_;
};

// Ranklab's Adam makes one pass over memory without temporaries. Operations on whole tensors make
// seven passes and need a temporary as large as the parameter; with the U-Net's 446 MiB, memory
// bandwidth limits the step.
class Adam final : public AdamState {
  public:
    Adam(std::vector<torch::Tensor> parameters, double lr)
        : AdamState(std::move(parameters), lr, false) {}

    void step() override {
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const torch::Tensor gradient = gradient_in_order(parameters_[i]);
            if (!gradient.defined()) continue;
            steps_[i] += 1;
            const StepFactors factors(lr_, steps_[i].item<double>());
            const bool wide = parameters_[i].scalar_type() == torch::kDouble;
            wide ? update<double>(i, gradient, factors) : update<float>(i, gradient, factors);
        }
    }

  private:
    template <class T>
    void update(std::size_t i, const torch::Tensor& gradient, const StepFactors& factors) {
        T* const p = parameters_[i].mutable_data_ptr<T>();
        T* const m = average_[i].mutable_data_ptr<T>();
        T* const v = square_average_[i].mutable_data_ptr<T>();
        const T* const g = gradient.const_data_ptr<T>();
        const T size = static_cast<T>(factors.size);
        const T root = static_cast<T>(factors.root);
        at::parallel_for(0, gradient.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
            constexpr T rest1 = static_cast<T>(1 - kBeta1);
            constexpr T beta2 = static_cast<T>(kBeta2);
            constexpr T rest2 = static_cast<T>(1 - kBeta2);
            constexpr T eps = static_cast<T>(kEps);
#pragma omp simd
            for (std::int64_t k = begin; k < end; ++k) {
                const T average = m[k] + rest1 * (g[k] - m[k]);
                const T square = v[k] * beta2 + rest2 * g[k] * g[k];
                m[k] = average;
                v[k] = square;
                p[k] -= size * average / (std::sqrt(square) / root + eps);
            }
        });
    }
};

// torch::optim::Adam's operations, in its order.
class LibTorchAdam final : public AdamState {
  public:
    LibTorchAdam(std::vector<torch::Tensor> parameters, double lr)
        : AdamState(std::move(parameters), lr, false) {}

    void step() override {
        const torch::NoGradGuard no_gradients;
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const torch::Tensor& gradient = parameters_[i].grad();
            if (!gradient.defined()) continue;
            steps_[i] += 1;
            const StepFactors factors(lr_, steps_[i].item<double>());
            average_[i].mul_(kBeta1).add_(gradient, 1 - kBeta1);
            square_average_[i].mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
            const auto divisor = (square_average_[i].sqrt() / factors.root).add_(kEps);
            parameters_[i].addcdiv_(average_[i], divisor, -factors.size);
        }
    }
};

// LibTorch's fused kernel: one call for all parameters. On a GPU `steps_` lie in GPU memory.
class FusedAdam final : public AdamState {
  public:
    FusedAdam(std::vector<torch::Tensor> parameters, double lr)
        : AdamState(std::move(parameters), lr, true) {}

    void step() override {
        const torch::NoGradGuard no_gradients;
        std::vector<torch::Tensor> parameters, gradients, averages, squares, steps;
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const torch::Tensor gradient = gradient_in_order(parameters_[i]);
            if (!gradient.defined()) continue;
            parameters.push_back(parameters_[i]);
            gradients.push_back(gradient);
            averages.push_back(average_[i]);
            squares.push_back(square_average_[i]);
            steps.push_back(steps_[i]);
        }
        if (parameters.empty()) return;
        at::_foreach_add_(steps, 1);
        at::_fused_adam_(parameters, gradients, averages, squares, {}, steps, lr_, kBeta1, kBeta2,
                         0.0, kEps, false, false);
    }
};

std::unique_ptr<Optimizer> make_adam(std::vector<torch::Tensor> parameters,
                                     const OptimizerConfig& config) {
    if (config.fused) return std::make_unique<FusedAdam>(std::move(parameters), config.lr);
    if (config.ops == nn::Ops::ranklab && suit_our_ops(parameters))
        return std::make_unique<Adam>(std::move(parameters), config.lr);
    return std::make_unique<LibTorchAdam>(std::move(parameters), config.lr);
}

}  // namespace

OptimizerEntry adam_entry() {
    return {.name = "adam",
            .summary = "Adam, betas 0.9 and 0.999, eps 1e-8, no weight decay",
            .default_lr = 1e-3,
            .has_fused = true,
            .states = [](const OptimizerConfig&) { return 2; },
            .make = make_adam};
}

}  // namespace ranklab::train
