// The cost of a model, found from the network itself without computing.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>

#include "nn/model.hpp"

namespace ranklab::nn {

/// While one lives, this thread's operations on tensors (uniform_, normal_, zero_ ...) leave them
/// as they are and draw no random numbers; making tensors works. A model made meanwhile has all its
/// shapes, but meaningless weights in memory that was never touched. A model whose constructor
/// looks at values cannot be made so.
class UninitialisedScope {
  public:
    UninitialisedScope();
    ~UninitialisedScope();

  private:
    struct Guard;
    std::unique_ptr<Guard> guard_;
};

/// FLOPs of one sample's forward: 2 x the multiply-accumulates of convolutions, transposed
/// convolutions, matrix products and attention, by the shapes of the operations that `model` calls.
/// Not counted: biases, activations, norms, pooling. Training takes about three times as many. With
/// an empty batch [0, input_sizes()] nothing is computed, and a matrix product's rows count as the
/// samples': one per sample. It uses eval mode and restores the model's mode.
std::int64_t forward_flops(Model& model, const torch::Tensor& batch);

struct Outline {
    std::int64_t parameters = 0;
    std::int64_t forward_flops = 0;  ///< of one sample: see forward_flops
    /// The model has weights of convolutions, whose memory format matters.
    bool convolves = false;
    /// The model has 1 x 1 convolutions of fewer than 8 channels: with channels-last and a stride
    /// oneDNN (of LibTorch 2.11, fp32 on the CPU) writes beyond their memory.
    bool breaks_channels_last = false;
};

/// Makes the model uninitialised and examines it in milliseconds and a few MB, at any size; the
/// random generator stays where it is. Throws the errors of `entry.make`.
Outline outline_of(const ModelEntry& entry, const ModelConfig& config);

}  // namespace ranklab::nn
