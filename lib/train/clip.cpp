#include "train/clip.hpp"

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>

#include <utility>

namespace ranklab::train {
namespace {

class Clipping final : public Optimizer {
  public:
    Clipping(std::unique_ptr<Optimizer> optimizer, std::vector<torch::Tensor> parameters,
             double max_norm)
        : inner_(std::move(optimizer)), parameters_(std::move(parameters)), max_norm_(max_norm) {}

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
        if (gradients.empty()) return;
        const auto norm = at::linalg_vector_norm(torch::stack(at::_foreach_norm(gradients)));
        at::_foreach_mul_(gradients, (max_norm_ / (norm + 1e-6)).clamp_max(1.0));
    }

    std::unique_ptr<Optimizer> inner_;
    std::vector<torch::Tensor> parameters_;
    double max_norm_;
};

}  // namespace

std::unique_ptr<Optimizer> clipping(std::unique_ptr<Optimizer> optimizer,
                                    std::vector<torch::Tensor> parameters, double max_norm) {
    return std::make_unique<Clipping>(std::move(optimizer), std::move(parameters), max_norm);
}

}  // namespace ranklab::train
