// From a loader's bytes to what a model takes: the beginning of a step (trainer.cpp).
#pragma once

#include <torch/types.h>

#include <vector>

#include "data/loader.hpp"

namespace ranklab::train {

struct TensorBatch {
    torch::Tensor input;    ///< [N, ...]: images or volumes
    torch::Tensor targets;  ///< [N] int64: classes; or [N, ...]: fields
    std::int64_t count() const { return targets.size(0); }
};

/// Where a batch is wanted, and how its input lies in memory.
struct Placement {
    torch::Device device = torch::kCPU;
    bool channels_last = false;
};

/// Converts bytes as PyTorch's ToTensor and Normalize do: (byte / 255 - mean) / std of the channel,
/// in the computing type. The 256 possible results per channel are computed once and looked up: the
/// same bits in one pass. Values (f32) stay as they are, without a copy where f32 computes.
class InputConverter {
  public:
    /// `mean` and `std` of pixels in [0, 1]: one a channel, or one for all.
    InputConverter(data::SampleLayout layout, const std::vector<double>& mean,
                   const std::vector<double>& std, torch::Dtype dtype, Placement placement = {});
    /// Images become new tensors each time, since autograd may still hold the last ones. Values
    /// become tensors over the batch's memory, which the loader reuses for its next batch.
    TensorBatch operator()(const data::Batch& batch) const;

  private:
    torch::Tensor input_of(const data::Batch& batch) const;
    torch::Tensor targets_of(const data::Batch& batch) const;

    data::SampleLayout layout_;
    torch::Tensor table_;  // [1 or channels, 256]
    Placement placement_;
};

}  // namespace ranklab::train
