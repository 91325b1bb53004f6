// A tensor as the comm room sees it.
#pragma once

#include <torch/types.h>

#include "comm/buffer.hpp"

namespace ranklab::train {

/// The storage of a contiguous tensor. Throws Error for a type that cannot be communicated.
comm::BufferView view_of(const torch::Tensor& tensor);

}  // namespace ranklab::train
