#include "train/optimizer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"

namespace ranklab::train {
namespace {

void check_tensors(const OptimizerState& state, const std::vector<torch::Tensor>& parameters,
                   bool all_defined) {
    if (state.tensors.size() != parameters.size()) {
        throw base::DataError(fmt::format("the optimizer's state '{}' is of {} parameters, not of {}",
                                          state.name, state.tensors.size(), parameters.size()));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto& tensor = state.tensors[i];
        if (!tensor.defined() && !all_defined) continue;
        if (tensor.defined() && tensor.sizes() == parameters[i].sizes() &&
            tensor.scalar_type() == parameters[i].scalar_type())
            continue;
        throw base::DataError(fmt::format(
            "the optimizer's state '{}' of parameter {} is {}; it is of another model or precision",
            state.name, i, tensor.defined() ? "of another shape or type" : "missing"));
    }
}

}  // namespace

void check_state(const std::vector<OptimizerState>& state, const std::vector<std::string>& names,
                 const std::vector<torch::Tensor>& parameters, bool all_defined) {
    bool same = state.size() == names.size();
    for (std::size_t k = 0; same && k < names.size(); ++k) same = state[k].name == names[k];
    if (!same) {
        throw base::DataError(
            fmt::format("the optimizer's state should be {}; it is another optimizer's",
                        names.empty() ? "empty" : fmt::format("'{}'", fmt::join(names, "', '"))));
    }
    for (const auto& kind : state) check_tensors(kind, parameters, all_defined);
}

double step_lr(double base, double gamma, std::int64_t epoch) {
    return base * std::pow(gamma, static_cast<double>(epoch));
}

}  // namespace ranklab::train
