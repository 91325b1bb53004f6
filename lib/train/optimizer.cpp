#include "train/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {

void check_state(const std::vector<OptimizerState>& state, const std::vector<StateKind>& kinds,
                 bool all_defined) {
    const auto has_name = [](const auto& is, const auto& kind) { return is.name == kind.name; };
    if (!std::equal(state.begin(), state.end(), kinds.begin(), kinds.end(), has_name))
        throw base::DataError(
            "the checkpoint's state belongs to another optimizer; resume with the checkpoint's");
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        const auto fits = [&](const torch::Tensor& tensor, const torch::Tensor& like) {
            if (!tensor.defined()) return !all_defined;
            return tensor.sizes() == like.sizes() && tensor.scalar_type() == like.scalar_type();
        };
        const auto& tensors = state[k].tensors;
        if (!std::equal(tensors.begin(), tensors.end(), kinds[k].like.begin(), kinds[k].like.end(),
                        fits))
            throw base::DataError(
                fmt::format("the checkpoint's optimizer state '{}' belongs to another model or "
                            "precision; resume with the checkpoint's",
                            kinds[k].name));
    }
}

bool suit_our_ops(const std::vector<torch::Tensor>& parameters) {
    return std::all_of(parameters.begin(), parameters.end(), [](const auto& parameter) {
        const auto type = parameter.scalar_type();
        return parameter.is_cpu() && (type == torch::kFloat || type == torch::kDouble);
    });
}

torch::Tensor gradient_in_order(const torch::Tensor& parameter) {
    const torch::Tensor gradient = parameter.grad();
    return gradient.defined() ? laid_out_as(parameter, gradient) : gradient;
}

}  // namespace ranklab::train
