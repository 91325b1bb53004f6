// Images and volumes with their channels innermost in memory (NHWC, NDHWC): what tensor cores, and oneDNN's
// convolutions, take without reordering. Sizes and values stay as they are.
#pragma once

#include <torch/types.h>

#include "nn/model.hpp"

namespace ranklab::train {

/// A tensor of 4 or 5 dimensions with its channels (dimension 1) innermost; another one as it is. Copies only
/// what lies otherwise.
torch::Tensor channels_last(const torch::Tensor& tensor);

/// The model's parameters and buffers so, each where it has such a form, or all row-major. Before gradients
/// and optimizers are made for them: these take over the strides.
void use_channels_last(nn::Model& model, bool on = true);

}  // namespace ranklab::train
