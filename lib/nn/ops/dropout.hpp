// Dropout on the CPU, drawn fast.
#pragma once

#include <torch/types.h>

#include "nn/ops/ops.hpp"

namespace ranklab::nn {

/// Computes torch::dropout(x, p, train): each element is kept with probability 1 - p and scaled by
/// 1/(1 - p), with the random numbers of LibTorch 2.11: the masks, and torch's generator
/// afterwards, are the same. Dense CPU tensors of float or double take the fast path; all others,
/// and all with Ops::libtorch, torch::dropout itself. Inside a GeneratorScope (nn/random.hpp) the
/// numbers of CPU tensors come from its generator.
///
/// Why: LibTorch draws one number at a time, which took an eighth of the MNIST CNN's step; here the
/// same mt19937 makes them by the block.
torch::Tensor fast_dropout(const torch::Tensor& x, double p, bool train, Ops ops = Ops::ranklab);

}  // namespace ranklab::nn
