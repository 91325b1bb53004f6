// Loss scaling for fp16, as PyTorch's torch.amp.GradScaler does it; LibTorch has none.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "train/optimizer.hpp"

namespace ranklab::train {

struct GradScalerConfig {
    double init_scale = 65536;
    double growth_factor = 2;
    double backoff_factor = 0.5;
    std::int64_t growth_interval = 2000;  ///< made steps in a row after which the scale grows
};

/// fp16's smallest number is 6e-8: gradients below it would be zeros. The loss is multiplied before backward,
/// the gradients are divided before the optimizer; where one is not finite the step is not made and the scale
/// falls, and after growth_interval steps in a row that were made it grows.
///
/// Every rank has one, and all come to the same scale without a word between them: each looks at the
/// gradients after they are summed over ranks, which are the same bits everywhere, and one rank's inf or NaN
/// is in the sum. With a sync that sums nothing each rank decides alone.
class GradScaler {
  public:
    explicit GradScaler(const GradScalerConfig& config = {});

    /// What backward starts from: loss x scale, in fp32 at least.
    torch::Tensor scaled(const torch::Tensor& loss) const;
    /// Divides the parameters' gradients in place; makes the optimizer's step if all are finite; adapts the
    /// scale. Returns whether the step was made. Waits for the device.
    bool step(const std::vector<torch::Tensor>& parameters, Optimizer& optimizer);

    double scale() const { return static_cast<double>(scale_); }
    /// Steps made since the scale last changed.
    std::int64_t growth_tracker() const { return growth_tracker_; }
    /// In all: a schedule by steps is at (steps - skipped()).
    std::int64_t skipped() const { return skipped_; }

    /// Its state for a checkpoint, as text, and back; DataError for another text.
    std::string save() const;
    void load(const std::string& state);

  private:
    bool unscale(const std::vector<torch::Tensor>& parameters) const;
    void update(bool found_inf);

    GradScalerConfig config_;
    float scale_;  // PyTorch's is a float tensor
    std::int64_t growth_tracker_ = 0;
    std::int64_t skipped_ = 0;
};

}  // namespace ranklab::train
