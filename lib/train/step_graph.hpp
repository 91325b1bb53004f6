// Device work recorded once and launched again as a whole: a CUDA graph.
#pragma once

#include <functional>

#include "base/pinned.hpp"

namespace ranklab::train {

class StepGraph : base::Pinned {
  public:
    StepGraph() = default;
    virtual ~StepGraph() = default;

    /// Once. Runs `work` on the host; what it puts on the device's current stream, which is not the default
    /// one, is recorded and not done. Tensors that it makes keep their memory for the replays.
    virtual void capture(const std::function<void()>& work) = 0;
    /// Does on the device what was recorded, with the same memory.
    virtual void replay() = 0;
};

}  // namespace ranklab::train
