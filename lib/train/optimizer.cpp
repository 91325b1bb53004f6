#include "train/optimizer.hpp"

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

class Clipping final : public Optimizer {
  public:
    Clipping(std::unique_ptr<Optimizer> optimizer, std::vector<torch::Tensor> parameters,
             double max_norm, std::function<double(double)> sum)
        : inner_(std::move(optimizer)),
          parameters_(std::move(parameters)),
          max_norm_(max_norm),
          sum_(std::move(sum)) {}

    void step() override {
        clip();
        inner_->step();
    }
    void set_lr(double lr) override { inner_->set_lr(lr); }
    std::vector<OptimizerState> state() override { return inner_->state(); }
    void load_state(const std::vector<OptimizerState>& state) override {
        inner_->load_state(state);
    }

  private:
    void clip() {
        const torch::NoGradGuard no_gradients;
        std::vector<torch::Tensor> gradients;
        for (const auto& parameter : parameters_)
            if (parameter.grad().defined()) gradients.push_back(parameter.grad());
        torch::Tensor norm = torch::zeros({}, torch::kDouble);
        if (!gradients.empty())
            norm = at::linalg_vector_norm(torch::stack(at::_foreach_norm(gradients)));
        if (sum_) {  // also on a rank without gradients
            const auto mine = norm.item<double>();
            norm.fill_(std::sqrt(sum_(mine * mine)));
        }
        if (gradients.empty()) return;
        at::_foreach_mul_(gradients, (max_norm_ / (norm + 1e-6)).clamp_max(1.0));
    }

    std::unique_ptr<Optimizer> inner_;
    std::vector<torch::Tensor> parameters_;
    double max_norm_;
    std::function<double(double)> sum_;
};

}  // namespace

void OptimizerWithState::load_state(const std::vector<OptimizerState>& state) {
    check(state);
    const torch::NoGradGuard no_gradients;
    for (std::size_t k = 0; k < states_.size(); ++k)
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            auto& own = states_[k].tensors[i];
            const auto& from = state[k].tensors[i];
            if (!from.defined())
                own = torch::Tensor();
            else if (!own.defined())
                own = torch::empty_like(parameters_[i]).copy_(from);
            else
                own.copy_(from);
        }
}

void OptimizerWithState::check(const std::vector<OptimizerState>& state) const {
    if (!std::ranges::equal(state, states_, {}, &OptimizerState::name, &OptimizerState::name))
        throw base::DataError(
            "the checkpoint's state belongs to another optimizer; resume with the checkpoint's");
    for (std::size_t k = 0; k < states_.size(); ++k) {
        bool fits = state[k].tensors.size() == parameters_.size();
        for (std::size_t i = 0; i < parameters_.size() && fits; ++i) {
            const auto& tensor = state[k].tensors[i];
            const auto& own = states_[k].tensors[i];
            const auto& like = own.defined() ? own : parameters_[i];
            fits = tensor.defined() ? tensor.sizes() == like.sizes() &&
                                          tensor.scalar_type() == like.scalar_type()
                                    : lazy_;
        }
        if (!fits)
            throw base::DataError(
                fmt::format("the checkpoint's optimizer state '{}' belongs to another model or "
                            "precision; resume with the checkpoint's",
                            states_[k].name));
    }
}

void OptimizerWithState::add(std::size_t parameter, const torch::Tensor& gradient,
                             Lists& lists) const {
    lists.parameters.push_back(parameters_[parameter]);
    lists.gradients.push_back(gradient);
    for (std::size_t k = 0; k < states_.size(); ++k)
        lists.states[k].push_back(states_[k].tensors[parameter]);
}

void OptimizerWithState::each_gradient(
    const std::function<void(std::size_t, const torch::Tensor&)>& update) const {
    for (std::size_t i = 0; i < parameters_.size(); ++i)
        if (const auto& gradient = parameters_[i].grad(); gradient.defined())
            update(i, laid_out_as(parameters_[i], gradient));
}

std::vector<torch::Tensor> zeros_of(const std::vector<torch::Tensor>& parameters) {
    std::vector<torch::Tensor> zeros;
    for (const auto& parameter : parameters) zeros.push_back(torch::zeros_like(parameter).detach());
    return zeros;
}

std::unique_ptr<Optimizer> clipping(std::unique_ptr<Optimizer> optimizer,
                                    std::vector<torch::Tensor> parameters, double max_norm,
                                    std::function<double(double)> sum) {
    return std::make_unique<Clipping>(std::move(optimizer), std::move(parameters), max_norm,
                                      std::move(sum));
}

bool suit_our_ops(const std::vector<torch::Tensor>& parameters) {
    return std::all_of(parameters.begin(), parameters.end(), [](const auto& parameter) {
        const auto type = parameter.scalar_type();
        return parameter.is_cpu() && (type == torch::kFloat || type == torch::kDouble);
    });
}

}  // namespace ranklab::train
