// A fused operation: max_pool2d(relu(x), 2) in one pass over memory.
#pragma once

#include <torch/types.h>

#include "nn/ops/ops.hpp"

namespace ranklab::nn {

/// Computes max_pool2d(relu(x), 2) of x [N, C, H, W] with bitwise equal values and gradients: the
/// first of equal maxima in a window takes the gradient, NaN propagates, a maximum not above 0
/// passes no gradient. Dense CPU tensors of float or double with even H and W take the fused path.
/// LibTorch's two operations compute other tensors, and all tensors with Ops::libtorch.
///
/// Why: LibTorch pools NCHW tensors on the CPU by scalar code, and ReLU reads and writes the
/// network's largest tensor once more in forward and in backward. Pooling and ReLU took a
/// fifth of the MNIST CNN's step.
torch::Tensor relu_max_pool_2x2(const torch::Tensor& x, Ops ops = Ops::ranklab);

}  // namespace ranklab::nn
