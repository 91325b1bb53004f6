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
constexpr std::int64_t kGrain = 1 << 14;  // elements a thread takes at least

// What is the same for all elements of a parameter at its k-th step: p -= size * m / (sqrt(v) / root + eps).
struct StepFactors {
    double size;
    double root;
    StepFactors(double lr, double k)
        : size(lr / (1 - std::pow(kBeta1, k))), root(std::sqrt(1 - std::pow(kBeta2, k))) {}
};

// Adam (Kingma and Ba 2015, arXiv:1412.6980, algorithm 1) in the order of operations of torch.optim.Adam:
//   m += (1 - b1) (g - m);  v = b2 v + (1 - b2) g^2;  p -= lr / (1 - b1^k) m / (sqrt(v) / sqrt(1 - b2^k) +
//   eps)
// k counts a parameter's own steps, those for which it had a gradient. On the CPU one pass over memory and no
// temporary, where the tensor formula makes seven passes and a temporary as large as the parameter: with the
// 446 MiB of the U-Net the step is bound by memory.
class Adam final : public Optimizer {
  public:
    Adam(std::vector<torch::Tensor> parameters, const OptimizerConfig& config)
        : parameters_(std::move(parameters)), lr_(config.lr), fused_(config.fused) {
        for (const auto& parameter : parameters_) {
            average_.push_back(torch::zeros_like(parameter).detach());
            square_average_.push_back(torch::zeros_like(parameter).detach());
            // fp32 as PyTorch's: the fused kernel on a GPU reads it there.
            const torch::Device counts_on = fused_ ? parameter.device() : torch::Device(torch::kCPU);
            steps_.push_back(torch::zeros({}, torch::TensorOptions(torch::kFloat).device(counts_on)));
        }
    }

    void step() override {
        const torch::NoGradGuard no_gradients;
        if (fused_) {
            step_fused();
            return;
        }
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const torch::Tensor gradient = gradient_in_order(parameters_[i]);
            if (!gradient.defined()) continue;
            steps_[i] += 1;
            const StepFactors factors(lr_, steps_[i].item<double>());
            const auto type = parameters_[i].scalar_type();
            if (!parameters_[i].is_cpu() || (type != torch::kDouble && type != torch::kFloat)) {
                update_by_tensors(i, gradient, factors);
            } else if (type == torch::kDouble) {
                update<double>(i, gradient, factors);
            } else {
                update<float>(i, gradient, factors);
            }
        }
    }
    void set_lr(double lr) override { lr_ = lr; }

    std::vector<OptimizerState> state() override {
        return {{"exp_avg", average_}, {"exp_avg_sq", square_average_}, {"step", steps_}};
    }
    void load_state(const std::vector<OptimizerState>& state) override {
        check_state_names(state, {"exp_avg", "exp_avg_sq", "step"});
        check_state_tensors(state[0], parameters_, true);
        check_state_tensors(state[1], parameters_, true);
        check_state_tensors(state[2], steps_, true);
        const torch::NoGradGuard no_gradients;
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            average_[i].copy_(state[0].tensors[i]);
            square_average_[i].copy_(state[1].tensors[i]);
            steps_[i].copy_(state[2].tensors[i]);
        }
    }

  private:
    void step_fused() {
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
        at::_fused_adam_(parameters, gradients, averages, squares, {}, steps, lr_, kBeta1, kBeta2, 0.0, kEps,
                         false, false);
    }

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

    void update_by_tensors(std::size_t i, const torch::Tensor& gradient, const StepFactors& factors) {
        average_[i].lerp_(gradient, 1 - kBeta1);
        square_average_[i].mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
        const torch::Tensor denominator = square_average_[i].sqrt().div_(factors.root).add_(kEps);
        parameters_[i].addcdiv_(average_[i], denominator, -factors.size);
    }

    std::vector<torch::Tensor> parameters_;
    std::vector<torch::Tensor> average_;
    std::vector<torch::Tensor> square_average_;
    std::vector<torch::Tensor> steps_;  // scalars
    double lr_;
    bool fused_;
};

}  // namespace

OptimizerEntry adam_entry() {
    return {.name = "adam",
            .summary = "Adam, betas 0.9 and 0.999, eps 1e-8, no weight decay",
            .default_lr = 1e-3,
            .has_fused = true,
            .make = [](std::vector<torch::Tensor> parameters,
                       const OptimizerConfig& config) -> std::unique_ptr<Optimizer> {
                return std::make_unique<Adam>(std::move(parameters), config);
            }};
}

}  // namespace ranklab::train
