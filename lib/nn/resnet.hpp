// The residual networks of He et al. (arXiv:1512.03385) as torchvision 0.26 builds them: its names,
// its order of construction and its initialisation, so that one seed gives torchvision's weights.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "nn/model.hpp"

namespace ranklab::nn {

struct ResNetLayout {
    /// Blocks of 1x1, 3x3, 1x1 x 4 ("v1.5": the stride is the 3x3's).
    bool bottleneck = false;
    std::array<std::int64_t, 4> blocks;  ///< of the stages with 64, 128, 256, 512 channels
};

/// A network for images of any size from 1 x 1 on: its five halvings round up, and the last pooling
/// takes the rest. OptionError for a volume and for a width that does not divide 64. Images of at
/// most 32 x 32 leave the last stage one value per channel: least_batch() is then 2.
std::shared_ptr<Model> make_resnet(const ModelConfig& config, const ResNetLayout& layout,
                                   const std::string& name);

/// The catalogue's entry, with the documented training (CIFAR-100 at 224 x 224, SGD 0.01 / 0.9).
ModelEntry resnet_entry(const std::string& name, const std::string& summary,
                        const ResNetLayout& layout);

}  // namespace ranklab::nn
