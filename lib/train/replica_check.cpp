#include "train/replicas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "nn/ops/ops.hpp"
#include "train/equal_state.hpp"
#include "train/gradient_sync.hpp"

namespace ranklab::train {
namespace {

std::vector<at::Generator> generators_of(const DataParallel& replicas) {
    std::vector<at::Generator> generators;
    for (std::size_t r = 0; r < replicas.count(); ++r) generators.push_back(replicas.generator(r));
    return generators;
}

// Computes the parts one after another; their gradients add up in the model's parameters.
void compute_reference(DataParallel& replicas, const TensorBatch& batch, double scale) {
    nn::Model& model = replicas.model(0);
    const auto parts = chunks_of(batch.count(), replicas.count());
    for (std::size_t r = 0; r < parts.size(); ++r) {
        const auto [first, count] = parts[r];
        if (count == 0) continue;
        const nn::GeneratorScope draws_from(replicas.generator(r));
        // On a GPU the model always draws from its GPU's generator, which therefore gets the
        // replica's state.
        if (r > 0 && replicas.places().on_gpus()) {
            at::Generator own = replicas.generator(0);
            own.set_state(replicas.generator(r).get_state());
        }
        const auto output = model.forward(batch.input.narrow(0, first, count));
        const double share = static_cast<double>(count) / static_cast<double>(batch.count());
        (model.loss(output, batch.targets.narrow(0, first, count)) * (scale * share)).backward();
    }
}

// Moves the gradients out, as double; zeros for a parameter without gradient.
std::vector<torch::Tensor> take_gradients(const std::vector<torch::Tensor>& parameters) {
    std::vector<torch::Tensor> gradients;
    for (const auto& parameter : parameters) {
        const auto gradient =
            parameter.grad().defined() ? parameter.grad() : torch::zeros_like(parameter);
        gradients.push_back(gradient.detach().to(torch::kDouble));
    }
    drop_gradients(parameters);
    return gradients;
}

// The allowed relative difference: enough for the rounding of reordered sums in deep networks. A
// wrong gradient differs in its first digits.
double bound_of(torch::ScalarType type, Precision precision) {
    // In 16 bits the gradients of the whole loss and of a part's loss are rounded differently.
    if (precision == Precision::bf16) return 5e-2;
    if (precision == Precision::fp16) return 1e-2;
    return type == torch::kDouble
               ? 1000 * std::numeric_limits<double>::epsilon()
               : 1000 * static_cast<double>(std::numeric_limits<float>::epsilon());
}

}  // namespace

ReplicaCheck check_replicas(DataParallel& replicas, const TensorBatch& batch, Precision precision) {
    const auto parameters = replicas.model(0).parameters();
    StateSnapshot rewind(replicas.model(0), generators_of(replicas));
    const double scale = gate_scale(precision);
    replicas.compute_gradient(batch, scale);
    const auto ours = take_gradients(parameters);
    rewind();
    compute_reference(replicas, batch, scale);
    const auto reference = take_gradients(parameters);
    rewind();
    double apart = 0, size = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        apart += (ours[i] - reference[i]).square().sum().item<double>();
        size += reference[i].square().sum().item<double>();
    }
    const double difference = apart == 0 ? 0 : std::sqrt(apart / size);
    const double bound = std::max(bound_of(batch.input.scalar_type(), precision),
                                  rounding_bound(precision, batch.input.device().type()));
    if (difference <= bound)
        return {true, fmt::format("first gradient of {} replicas: relative difference {:.1e} from "
                                  "one model on the same parts (allowed {:.1e}, norm {:.3g})",
                                  replicas.count(), difference, bound, std::sqrt(size) / scale)};
    return {false,  // also if the difference is NaN
            fmt::format("gradient of {} replicas: relative difference {:.1e} from one model on the "
                        "same parts, above {:.1e}; the model may draw random numbers or keep "
                        "unregistered state, so train it in mode ddp",
                        replicas.count(), difference, bound)};
}

}  // namespace ranklab::train
