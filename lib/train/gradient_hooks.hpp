// Tells when backward has made a parameter's gradient.
#pragma once

#include <torch/types.h>

#include <functional>
#include <vector>

#include "base/handle.hpp"

namespace ranklab::train {

class GradientHooks : base::Immovable {
  public:
    /// Backward's thread calls `ready(i)` once parameter i's gradient is accumulated (a hook on the
    /// tensor itself would fire before that). The destructor removes the hooks.
    GradientHooks(const std::vector<torch::Tensor>& parameters,
                  std::function<void(std::size_t)> ready);
    ~GradientHooks();

  private:
    struct Hooked;
    std::vector<Hooked> hooked_;
    std::function<void(std::size_t)> ready_;
};

}  // namespace ranklab::train
