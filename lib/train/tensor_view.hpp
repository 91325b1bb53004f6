// A tensor as the comm room sees it.
#pragma once

#include <torch/types.h>

#include "comm/buffer.hpp"

namespace ranklab::train {

/// The type of a tensor's elements, and the way back. Error for a type that cannot be communicated.
comm::DType element_of(torch::Dtype dtype);
torch::Dtype dtype_of(comm::DType element);

/// The storage of a contiguous tensor. Throws Error for a type that cannot be communicated.
comm::BufferView view_of(const torch::Tensor& tensor);

/// A dense tensor's elements in one dimension, in the order in which they lie in memory (channels-last ones
/// too); shares their storage. Of use between tensors of the same strides.
torch::Tensor in_memory_order(const torch::Tensor& tensor);

/// `flat`, of as many elements, seen with the sizes and strides of `like`: what in_memory_order() of the
/// result gives is `flat`.
torch::Tensor viewed_as(const torch::Tensor& flat, const torch::Tensor& like);

/// `tensor` with the strides of `like` and on its device: itself where it has them, else a copy.
torch::Tensor laid_out_as(const torch::Tensor& like, const torch::Tensor& tensor);

}  // namespace ranklab::train
