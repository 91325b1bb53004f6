#include "train/gradient_sync.hpp"

namespace ranklab::train {

void drop_gradients(const std::vector<torch::Tensor>& parameters) {
    for (const auto& parameter : parameters) parameter.mutable_grad().reset();
}

void define_gradients(const std::vector<torch::Tensor>& parameters) {
    for (const auto& parameter : parameters) {
        if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
    }
}

}  // namespace ranklab::train
