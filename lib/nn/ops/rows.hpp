// Language models' operations on rows. Each makes one pass over memory in forward and one in
// backward, and equals LibTorch's up to rounding. Dense CPU tensors of float or double take the
// fast path (ADR 0004).
#pragma once

#include "nn/ops/ops.hpp"

namespace ranklab::nn {

torch::Tensor rms_norm(const torch::Tensor& x, const torch::Tensor& weight, double eps, Ops ops);

/// silu(x) * y.
torch::Tensor swiglu(const torch::Tensor& x, const torch::Tensor& y, Ops ops);

/// The mean over rows of the cross-entropy, in nats, of `scores` [rows, classes] with `targets`.
torch::Tensor cross_entropy(const torch::Tensor& scores, const torch::Tensor& targets, Ops ops);

}  // namespace ranklab::nn
