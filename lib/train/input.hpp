// Converts a loader's bytes to tensors, the first part of a step. Defined in trainer.cpp.
#pragma once

#include <torch/types.h>

#include <vector>

#include "data/loader.hpp"

namespace ranklab::train {

struct TensorBatch {
    torch::Tensor input;    ///< [N, ...]
    torch::Tensor targets;  ///< int64 classes [N] or [N, ...], or values [N, ...]
    std::int64_t count() const { return targets.size(0); }
};

/// The device of a batch and the memory format of its input.
struct Placement {
    torch::Device device = torch::kCPU;
    bool channels_last = false;
};

/// Converts bytes as PyTorch's ToTensor and Normalize: (byte / 255 - mean) / std per channel, in
/// type `dtype`. Looks up the 256 possible results per channel in a table: one pass, with results
/// bitwise equal to PyTorch's. Converts f32 values to `dtype`, without a copy if `dtype` is f32.
class InputConverter {
  public:
    /// `mean` and `std` of pixels in [0, 1]: one per channel, or one for all.
    InputConverter(data::SampleLayout layout, const std::vector<double>& mean,
                   const std::vector<double>& std, torch::Dtype dtype, Placement placement = {});
    /// Returns new tensors for images, since autograd may still hold the previous ones. For f32
    /// values returns views of the batch's memory, which the loader reuses for its next batch.
    TensorBatch operator()(const data::Batch& batch) const;

  private:
    torch::Tensor input_of(const data::Batch& batch) const;
    torch::Tensor targets_of(const data::Batch& batch) const;

    data::SampleLayout layout_;
    torch::Tensor table_;  // [1 or channels, 256]
    Placement placement_;
};

}  // namespace ranklab::train
