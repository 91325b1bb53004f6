// The parameters and FLOPs of a model, found without computing.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "nn/model.hpp"

namespace ranklab::nn {

/// While the object lives, this thread's operations on tensors (uniform_, normal_, zero_, copy_
/// ...) have no effect and draw no random numbers. A model made meanwhile has its shapes, but
/// uninitialised weights in untouched memory. Not for models whose constructor reads values.
class UninitialisedScope {
  public:
    UninitialisedScope();

  private:
    // Restores the dispatch keys; an IncludeDispatchKeyGuard would leave the meta backend's bit
    // set.
    c10::impl::ForceDispatchKeyGuard restores_{};
};

/// FLOPs of one sample's forward: 2 x the multiply-accumulates of convolutions, transposed
/// convolutions, matrix products and attention, by the shapes of the operations that `model` calls.
/// Not counted: biases, activations, norms, pooling. Training takes about three times the FLOPs. An
/// empty batch [0, input_sizes()] computes nothing; a matrix product then counts one row per
/// sample. Runs in eval mode and restores the model's mode.
std::int64_t forward_flops(Model& model, const torch::Tensor& batch);

struct Outline {
    std::int64_t parameters = 0;
    std::int64_t forward_flops = 0;  ///< of one sample: see forward_flops
    /// Of training a language model: by its formula, or three times the forward; 0: of others
    double flops_per_token = 0;
    std::string mfu_formula = {};  ///< with these FLOPs and their source; "": of others
    /// The model has convolutions, whose memory format matters.
    bool convolves = false;
    /// The model has 1 x 1 convolutions of fewer than 8 channels. With channels-last and a stride,
    /// oneDNN (LibTorch 2.11, fp32 on the CPU) writes beyond their memory.
    bool breaks_channels_last = false;
};

/// Makes the model without weights and examines it, in milliseconds and a few MB at any size,
/// without drawing random numbers. Throws the errors of `entry.make`.
Outline outline_of(const ModelEntry& entry, const ModelConfig& config);

/// Takes the user's --flops-per-token, if any, for the model's own. Throws OptionError if `outline`
/// is not a language model's, which has no MFU.
void settle_mfu(Outline& outline, std::optional<double> flops_per_token);

}  // namespace ranklab::nn
