#include "train/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {

void check_state_names(const std::vector<OptimizerState>& state, const std::vector<std::string>& names) {
    bool same = state.size() == names.size();
    for (std::size_t k = 0; same && k < names.size(); ++k) same = state[k].name == names[k];
    if (!same) {
        throw base::DataError(
            fmt::format("the optimizer's state should be {}; it is another optimizer's",
                        names.empty() ? "empty" : fmt::format("'{}'", fmt::join(names, "', '"))));
    }
}

void check_state_tensors(const OptimizerState& state, const std::vector<torch::Tensor>& like,
                         bool all_defined) {
    if (state.tensors.size() != like.size()) {
        throw base::DataError(fmt::format("the optimizer's state '{}' is of {} parameters, not of {}",
                                          state.name, state.tensors.size(), like.size()));
    }
    for (std::size_t i = 0; i < like.size(); ++i) {
        const auto& tensor = state.tensors[i];
        if (!tensor.defined() && !all_defined) continue;
        if (tensor.defined() && tensor.sizes() == like[i].sizes() &&
            tensor.scalar_type() == like[i].scalar_type())
            continue;
        throw base::DataError(fmt::format(
            "the optimizer's state '{}' of parameter {} is {}; it is of another model or precision",
            state.name, i, tensor.defined() ? "of another shape or type" : "missing"));
    }
}

void check_state(const std::vector<OptimizerState>& state, const std::vector<std::string>& names,
                 const std::vector<torch::Tensor>& parameters, bool all_defined) {
    check_state_names(state, names);
    for (const auto& kind : state) check_state_tensors(kind, parameters, all_defined);
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
