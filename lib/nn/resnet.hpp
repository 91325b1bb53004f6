// The residual networks of He et al. (arXiv:1512.03385), with torchvision 0.26's names, order of
// construction and initialisation, so that a seed gives torchvision's weights.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "nn/model.hpp"

namespace ranklab::nn {

struct ResNetLayout {
    /// Blocks of 1x1, 3x3 and 1x1 convolutions, the last with 4 x the channels ("v1.5": the 3x3 has
    /// the stride); otherwise of two 3x3 convolutions.
    bool bottleneck = false;
    std::array<std::int64_t, 4> blocks;  ///< per stage of 64, 128, 256, 512 channels
};

/// The catalogue's entry, with the documented defaults (CIFAR-100 at 224 x 224, SGD, lr 0.01,
/// momentum 0.9). Takes images of any size, since the five halvings round up; for images of at most
/// 32 x 32 the last stage has one value per channel, so that training needs two images. `make`
/// throws OptionError unless the data are images with classes and the width divides 64.
ModelEntry resnet_entry(const std::string& name, const std::string& summary,
                        const ResNetLayout& layout);

}  // namespace ranklab::nn
