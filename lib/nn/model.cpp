#include "nn/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/error.hpp"

namespace ranklab::nn {

torch::Tensor Model::loss(const torch::Tensor& output, const torch::Tensor& targets) const {
    return torch::nll_loss_nd(output, targets);
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
    std::unordered_set<const c10::TensorImpl*> seen;  // weights may be shared
    for (const auto& parameter : model.parameters())
        if (seen.insert(parameter.unsafeGetTensorImpl()).second) count += parameter.numel();
    return count;
}

void require_width(std::int64_t width, std::int64_t channels, const std::string& model) {
    if (width >= 1 && channels % width == 0) return;
    std::int64_t below = std::clamp<std::int64_t>(width, 1, channels);
    while (channels % below != 0) --below;
    std::int64_t above = std::max<std::int64_t>(width, 1);
    while (above < channels && channels % above != 0) ++above;
    const bool one = above > channels || above == below;
    throw base::OptionError(
        fmt::format("the width {} does not divide the {} channels of {}; use {}", width, channels,
                    model, one ? fmt::format("{}", below) : fmt::format("{} or {}", below, above)),
        {"width"});
}

}  // namespace ranklab::nn
