// A fused operation: max_pool2d(relu(x), 2) in one pass over memory.
#pragma once

#include <torch/types.h>

#include "nn/ops/ops.hpp"

namespace ranklab::nn {

/// Computes max_pool2d(relu(x), 2) of x [N, C, H, W] with the same values and gradient, bit by bit:
/// the first of equal maxima in a window's rows takes the gradient, NaN goes through, a maximum
/// that is not above 0 passes no gradient. Dense CPU tensors of float or double with even H and W
/// take the fused path; all others, and all with Ops::libtorch, LibTorch's two operations.
///
/// Why: on CPU LibTorch's pooling of an NCHW tensor is scalar code, and ReLU before it reads and
/// writes the network's largest tensor once more in each direction; the two were a fifth of the
/// MNIST CNN's step.
torch::Tensor relu_max_pool_2x2(const torch::Tensor& x, Ops ops = Ops::ranklab);

}  // namespace ranklab::nn
