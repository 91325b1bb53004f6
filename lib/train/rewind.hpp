// Undoes what a forward pass in training mode changes besides its result.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/types.h>

#include <vector>

#include "nn/model.hpp"

namespace ranklab::train {

/// What a model on that device draws from: torch's default generators of the CPU and of the device.
std::vector<at::Generator> default_generators(torch::Device device);

class Rewind {
  public:
    /// Remembers the model's buffers (running statistics) and the states of the generators that it draws
    /// from.
    Rewind(const nn::Model& model, std::vector<at::Generator> generators);
    /// Puts them back; as often as wanted.
    void operator()();

  private:
    std::vector<torch::Tensor> buffers_;
    std::vector<torch::Tensor> values_;
    std::vector<at::Generator> generators_;
    std::vector<torch::Tensor> states_;
};

}  // namespace ranklab::train
