// A batch where the model is, and as it lies there.
#pragma once

#include <torch/types.h>

#include "train/input.hpp"

namespace ranklab::train {

class BatchPlacement {
  public:
    /// On the CPU, as it comes.
    BatchPlacement() = default;
    BatchPlacement(torch::Device device, bool channels_last)
        : device_(device), channels_last_(channels_last) {}

    /// To a GPU from pinned memory (what is not pinned is copied there first), put on the current stream: the
    /// host does not wait, and the GPU's next operations come after it. Channels innermost there where that
    /// was asked.
    TensorBatch operator()(TensorBatch batch) const;

  private:
    torch::Device device_ = torch::kCPU;
    bool channels_last_ = false;
};

}  // namespace ranklab::train
