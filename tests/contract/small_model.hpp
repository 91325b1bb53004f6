// A small relative of each model of the catalogue, so that looking at all of them takes seconds:
// every newcomer's too, without an edit here.
#pragma once

#include <torch/types.h>

#include <algorithm>

#include "base/error.hpp"
#include "nn/model.hpp"
#include "nn/outline.hpp"

namespace ranklab::testing {

inline bool takes(const nn::ModelEntry& entry, const nn::ModelConfig& config) {
    try {
        nn::outline_of(entry, config);
        return true;
    } catch (const base::OptionError&) {
        return false;
    }
}

/// The entry's own input where it is small. Larger images are cut to 64 x 64 (not 32: deep networks
/// halve until one value is left, which BatchNorm cannot normalise), volumes keep their edges,
/// texts 16 tokens; all get few channels.
inline nn::ModelConfig small_config(const nn::ModelEntry& entry) {
    constexpr std::int64_t kEdge = 64;
    nn::ModelConfig config{.input = entry.input, .dropout = true};
    const bool large = entry.input.height > kEdge || entry.input.width > kEdge;
    if (entry.input.is_volume()) {
        config.width = 32;
    } else if (large) {
        config.width = 16;
        config.input.height = std::min(config.input.height, kEdge);
        config.input.width = std::min(config.input.width, kEdge);
    } else if (entry.flops) {
        config.input.own.front().sizes = config.input.own_target.sizes = {16};
        for (config.width = 32; config.width > 1 && !takes(entry, config);) --config.width;
    }
    return config;
}

inline std::vector<std::int64_t> batch_of(std::int64_t count, std::vector<std::int64_t> sizes) {
    sizes.insert(sizes.begin(), count);
    return sizes;
}

/// Equal numbers at each call: tokens, or normal numbers.
inline torch::Tensor small_inputs(const nn::InputShape& input, std::int64_t count,
                                  torch::Dtype dtype) {
    torch::manual_seed(99);
    const auto sizes = batch_of(count, input.input_sizes());
    return input.is_whole() ? torch::randint(input.classes, sizes, torch::kLong)
                            : torch::randn(sizes, torch::kDouble).to(dtype);
}

/// Equal numbers at each call: the classes in turn, or normal numbers.
inline torch::Tensor small_targets(const nn::InputShape& input, std::int64_t count,
                                   torch::Dtype dtype) {
    const auto sizes = batch_of(count, input.target_sizes());
    if (input.classifies())
        return torch::arange(c10::multiply_integers(sizes)).remainder(input.classes).view(sizes);
    torch::manual_seed(98);
    return torch::randn(sizes, torch::kDouble).to(dtype);
}

}  // namespace ranklab::testing
