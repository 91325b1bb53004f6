// Fast dropout on the CPU.
#pragma once

#include <torch/types.h>

#include "nn/ops/ops.hpp"

namespace ranklab::nn {

/// Computes torch::dropout(x, p, train) with LibTorch 2.11's masks, and leaves torch's generator in
/// the same state. Dense CPU tensors of float or double take the fast path. torch::dropout computes
/// other tensors, and all tensors with Ops::libtorch. In a GeneratorScope (nn/random.hpp) CPU
/// tensors draw from the scope's generator.
///
/// Why: LibTorch draws one number at a time, which took an eighth of the MNIST CNN's step. Here
/// mt19937 makes blocks of the same numbers.
torch::Tensor fast_dropout(const torch::Tensor& x, double p, bool train, Ops ops = Ops::ranklab);

}  // namespace ranklab::nn
