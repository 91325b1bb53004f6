#include "nn/model.hpp"

namespace ranklab::nn {

torch::Tensor Model::loss(const torch::Tensor& output, const torch::Tensor& targets) const {
    return torch::nll_loss(output, targets);
}

void Model::to(torch::Dtype dtype, bool non_blocking) {
    const auto convert = [&](torch::Tensor tensor) {
        if (tensor.is_floating_point()) tensor.set_data(tensor.to(dtype, non_blocking));
    };
    for (const auto& parameter : parameters()) convert(parameter);
    for (const auto& buffer : buffers()) convert(buffer);
}

std::int64_t parameter_count(const Model& model) {
    std::int64_t count = 0;
    for (const auto& parameter : model.parameters()) count += parameter.numel();
    return count;
}

}  // namespace ranklab::nn
