#include <ATen/Parallel.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>

#include <cmath>

#include "train/optimizer.hpp"

namespace ranklab::train {
namespace {

struct Rule {
    double beta1 = 0.9, beta2 = 0.999;
    double decay = 0;  ///< of matrices and larger tensors, not of biases and norms

    /// The factor by which weight decay shrinks `parameter` before its step.
    double kept(const torch::Tensor& parameter, double lr) const {
        return parameter.dim() >= 2 ? 1 - lr * decay : 1;
    }
};
constexpr Rule kAdam{};
// As nanoGPT and torchtitan train language models.
constexpr Rule kAdamW{.beta1 = 0.9, .beta2 = 0.95, .decay = 0.1};
constexpr double kEps = 1e-8;
constexpr std::int64_t kGrain = 1 << 14;  // minimum of elements per thread

// The factors of a parameter's k-th step: p -= size * m / (sqrt(v) / root + eps).
struct StepFactors {
    double size;
    double root;
    StepFactors(const Rule& rule, double lr, double k)
        : size(lr / (1 - std::pow(rule.beta1, k))), root(std::sqrt(1 - std::pow(rule.beta2, k))) {}
};

std::vector<torch::Tensor> step_counts(const std::vector<torch::Tensor>& parameters,
                                       bool beside_parameters) {
    std::vector<torch::Tensor> counts;
    for (const auto& parameter : parameters)
        counts.push_back(
            torch::zeros({}, torch::TensorOptions(torch::kFloat)
                                 .device(beside_parameters ? parameter.device() : torch::kCPU)));
    return counts;
}

// Adam (Kingma and Ba 2015, arXiv:1412.6980, algorithm 1) in the order of operations of
// torch.optim.Adam:
//   m += (1 - b1) (g - m);  v = b2 v + (1 - b2) g^2;
//   p -= lr / (1 - b1^k) m / (sqrt(v) / sqrt(1 - b2^k) + eps)
// AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101) first multiplies p by 1 - lr decay.
// k counts a parameter's steps with a gradient. All implementations share this state, so that any
// of them can load another's checkpoint.
class AdamState : public OptimizerWithState {
  public:
    AdamState(const std::vector<torch::Tensor>& parameters, const Rule& rule, double lr,
              bool counts_beside_parameters = false)
        : OptimizerWithState(parameters, lr,
                             {{"exp_avg", zeros_of(parameters)},
                              {"exp_avg_sq", zeros_of(parameters)},
                              {"step", step_counts(parameters, counts_beside_parameters)}}),
          rule_(rule) {}

  protected:
    std::vector<torch::Tensor>& average_ = states_[0].tensors;
    std::vector<torch::Tensor>& square_average_ = states_[1].tensors;
    std::vector<torch::Tensor>& steps_ = states_[2].tensors;  // k, fp32 as in PyTorch
    Rule rule_;
};

// Ranklab's Adam makes one pass over memory without temporaries. Operations on whole tensors make
// seven passes and need a temporary as large as the parameter; with the U-Net's 446 MiB, memory
// bandwidth limits the step.
class Adam final : public AdamState {
  public:
    using AdamState::AdamState;

    void step() override {
        each_gradient([&](std::size_t i, const torch::Tensor& gradient) {
            steps_[i] += 1;
            const StepFactors factors(rule_, lr_, steps_[i].item<double>());
            const bool wide = gradient.scalar_type() == torch::kDouble;
            wide ? update<double>(i, gradient, factors) : update<float>(i, gradient, factors);
        });
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
        const T kept = static_cast<T>(rule_.kept(parameters_[i], lr_));
        const T rest1 = static_cast<T>(1 - rule_.beta1);
        const T beta2 = static_cast<T>(rule_.beta2);
        const T rest2 = static_cast<T>(1 - rule_.beta2);
        at::parallel_for(0, gradient.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
            constexpr T eps = static_cast<T>(kEps);
#pragma omp simd
            for (std::int64_t k = begin; k < end; ++k) {
                const T average = m[k] + rest1 * (g[k] - m[k]);
                const T square = v[k] * beta2 + rest2 * g[k] * g[k];
                m[k] = average;
                v[k] = square;
                p[k] = p[k] * kept - size * average / (std::sqrt(square) / root + eps);
            }
        });
    }
};

// torch::optim::Adam's operations, in its order.
class LibTorchAdam final : public AdamState {
  public:
    using AdamState::AdamState;

    void step() override {
        const torch::NoGradGuard no_gradients;
        each_gradient([&](std::size_t i, const torch::Tensor& gradient) {
            steps_[i] += 1;
            const StepFactors factors(rule_, lr_, steps_[i].item<double>());
            if (rule_.decay != 0) parameters_[i].mul_(rule_.kept(parameters_[i], lr_));
            average_[i].mul_(rule_.beta1).add_(gradient, 1 - rule_.beta1);
            square_average_[i].mul_(rule_.beta2).addcmul_(gradient, gradient, 1 - rule_.beta2);
            const auto divisor = (square_average_[i].sqrt() / factors.root).add_(kEps);
            parameters_[i].addcdiv_(average_[i], divisor, -factors.size);
        });
    }
};

// LibTorch's fused kernel: one call for all parameters with the same decay. On a GPU `steps_` lie
// in GPU memory.
class FusedAdam final : public AdamState {
  public:
    FusedAdam(const std::vector<torch::Tensor>& parameters, const Rule& rule, double lr)
        : AdamState(parameters, rule, lr, true) {}

    void step() override {
        const torch::NoGradGuard no_gradients;
        Lists decayed, others;
        each_gradient([&](std::size_t i, const torch::Tensor& gradient) {
            add(i, gradient, rule_.kept(parameters_[i], 1) != 1 ? decayed : others);
        });
        update(decayed, rule_.decay);
        update(others, 0);
    }

  private:
    void update(const Lists& lists, double decay) const {
        if (lists.empty()) return;
        const auto& [averages, squares, steps] = lists.states;
        at::_foreach_add_(steps, 1);
        at::_fused_adamw_(lists.parameters, lists.gradients, averages, squares, {}, steps, lr_,
                          rule_.beta1, rule_.beta2, decay, kEps, false, false);
    }
};

OptimizerEntry entry(const char* name, const char* summary, const Rule& rule) {
    return {.name = name,
            .summary = summary,
            .default_lr = 1e-3,
            .has_fused = true,
            .states = [](const OptimizerConfig&) { return 2; },
            .make = [rule](const std::vector<torch::Tensor>& parameters,
                           const OptimizerConfig& config) -> std::unique_ptr<Optimizer> {
                if (config.fused) return std::make_unique<FusedAdam>(parameters, rule, config.lr);
                if (config.ops == nn::Ops::ranklab && suit_our_ops(parameters))
                    return std::make_unique<Adam>(parameters, rule, config.lr);
                return std::make_unique<LibTorchAdam>(parameters, rule, config.lr);
            }};
}

}  // namespace

std::vector<OptimizerEntry> adam_entries() {
    return {entry("adam", "Adam, betas 0.9 and 0.999, eps 1e-8, no weight decay", kAdam),
            entry("adamw",
                  "AdamW, betas 0.9 and 0.95, eps 1e-8, weight decay 0.1 of matrices, as language "
                  "models are trained",
                  kAdamW)};
}

}  // namespace ranklab::train
