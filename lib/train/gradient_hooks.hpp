// Tells when backward has put a parameter's gradient in its place.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/pinned.hpp"

namespace ranklab::train {

class GradientHooks : base::Pinned {
  public:
    /// `ready(i)` is called in each backward that reaches parameter i, once, after its gradient was added up
    /// (a hook on the tensor itself would fire before), by the thread that runs backward. The parameters keep
    /// their hooks until this object goes.
    GradientHooks(const std::vector<torch::Tensor>& parameters, std::function<void(std::size_t)> ready);
    ~GradientHooks();

  private:
    struct Hooked;
    std::vector<Hooked> hooked_;
    std::function<void(std::size_t)> ready_;
};

}  // namespace ranklab::train
