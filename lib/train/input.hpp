// From bytes in memory to what a model takes.
#pragma once

#include <torch/types.h>

#include <vector>

#include "data/batch.hpp"

namespace ranklab::train {

struct TensorBatch {
    torch::Tensor images;   ///< [N, channels, height, width]
    torch::Tensor targets;  ///< [N] int64
    std::int64_t count() const { return targets.size(0); }
};

/// PyTorch's ToTensor and Normalize: (byte / 255 - mean) / std in the type that computes. There are 256
/// possible results, so they are computed once and looked up: the same bits, one pass.
class Normalizer {
  public:
    Normalizer(double mean, double std, torch::Dtype dtype);
    /// Fresh tensors each time: autograd may still hold the last ones.
    TensorBatch operator()(const data::Batch& batch, const data::ImageShape& shape) const;

  private:
    torch::Tensor table_;  // [256]
};

}  // namespace ranklab::train
