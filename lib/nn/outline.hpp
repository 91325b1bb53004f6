// The cost of a model, found from the network itself without computing.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "nn/model.hpp"

namespace ranklab::nn {

/// While one lives, what this thread does to fill tensors (uniform_, normal_, zero_ ... and every
/// other operation on tensors) leaves them as they are, and draws no random numbers; making tensors
/// works. So a model made meanwhile has all its shapes, but weights without meaning in memory that
/// was never touched. A model whose constructor looks at values cannot be made so.
class UninitialisedScope {
  public:
    UninitialisedScope();
    ~UninitialisedScope();

  private:
    struct Guard;
    std::unique_ptr<Guard> guard_;
};

struct ForwardFlops {
    std::int64_t flops = 0;
    /// Layers whose products are not among them; "" where there are none.
    std::string uncounted{};
};

/// FLOPs of one sample's forward: 2 x the multiply-accumulates of convolutions, transposed
/// convolutions, matrix products and attention, as the operations that `model` calls have their
/// shapes. Not counted: biases, activations, norms, pooling. Training takes about three times as
/// many. With an empty batch [0, input_sizes()] nothing is computed, and a matrix product's rows
/// count as the samples': one a sample. In eval mode; the model's mode is put back.
ForwardFlops forward_flops(Model& model, const torch::Tensor& batch);

struct Outline {
    std::int64_t parameters = 0;
    ForwardFlops forward{};  ///< of one sample
    /// It has weights of convolutions, whose memory format matters.
    bool convolves = false;
    /// It has 1 x 1 convolutions of fewer than 8 channels: with channels-last and a stride oneDNN
    /// (of LibTorch 2.11, fp32 on the CPU) writes beyond their memory.
    bool breaks_channels_last = false;
};

/// Makes the model uninitialised and looks at it: milliseconds and a few MB, whatever its size; the
/// random generator stays where it is. Throws what `entry.make` throws.
Outline outline_of(const ModelEntry& entry, const ModelConfig& config);

}  // namespace ranklab::nn
