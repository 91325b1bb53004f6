// A model around another one: it computes in some other way, with the same parameters under the same names.
#pragma once

#include <memory>
#include <utility>

#include "nn/model.hpp"

namespace ranklab::train {

/// Parameters, buffers and submodules are the inner model's own, registered under their own names:
/// optimizers, checkpoints and parameter files see no difference.
class DecoratedModel : public nn::Model {
  public:
    explicit DecoratedModel(std::shared_ptr<nn::Model> inner) : inner_(std::move(inner)) {
        for (const auto& item : inner_->named_parameters(/*recurse=*/false))
            register_parameter(item.key(), item.value(), item.value().requires_grad());
        for (const auto& item : inner_->named_buffers(/*recurse=*/false))
            register_buffer(item.key(), item.value());
        for (const auto& item : inner_->named_children()) register_module(item.key(), item.value());
    }

    torch::Tensor forward(const torch::Tensor& input) override { return inner_->forward(input); }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        return inner_->loss(output, targets);
    }
    // The children are shared, the flag of the inner model itself is not.
    void train(bool on = true) override {
        Module::train(on);
        inner_->train(on);
    }

  protected:
    nn::Model& inner() { return *inner_; }

  private:
    std::shared_ptr<nn::Model> inner_;
};

}  // namespace ranklab::train
