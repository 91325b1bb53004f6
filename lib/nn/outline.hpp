// The parameters and FLOPs of a model, found without computing, and the multiply-accumulates of one
// LibTorch operation (convolution, transposed convolution, matrix product, attention, oneDNN's
// LSTM) from the shapes that a callback sees.
#pragma once

#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/handle.hpp"
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
    std::int64_t forward_flops = 0;  ///< of one sample: see forward_flops()
    /// Of training a language model: by its formula, or three times the forward; 0: other models
    double flops_per_token = 0;
    std::string mfu_formula = {};  ///< with flops_per_token and its source; "": other models
    /// The model has convolutions, whose memory format matters.
    bool convolves = false;
    /// The model has 1 x 1 convolutions of fewer than 8 channels. With channels-last and a stride,
    /// oneDNN (LibTorch 2.11, fp32 on the CPU) writes beyond their memory.
    bool breaks_channels_last = false;
};

/// Makes the model without weights and examines it, in milliseconds and a few MB at any size,
/// without drawing random numbers. Throws the errors of `entry.make`.
Outline outline_of(const ModelEntry& entry, const ModelConfig& config);

/// Replaces the model's own FLOPs per token by the user's --flops-per-token, if given. Throws
/// OptionError unless `outline` is a language model's: other models have no MFU.
void settle_mfu(Outline& outline, std::optional<double> flops_per_token);

/// LibTorch calls `callbacks` for this thread's operations while the object lives.
class OperationCallbacks : base::Immovable {
  public:
    explicit OperationCallbacks(at::RecordFunctionCallback callbacks)
        : handle_(at::addThreadLocalCallback(callbacks)) {}
    ~OperationCallbacks() { at::removeCallback(handle_); }

  private:
    at::CallbackHandle handle_;
};

/// Multiply-accumulates of one operation, made by products_of() while the operation's inputs exist.
struct Products {
    std::int64_t macs = 0;          ///< per row of the first dimension
    bool times_the_output = false;  ///< `macs` is per element of the output's row instead
    std::int64_t rows = 0;

    /// Multiply-accumulates per row. Call it after the operation, when the output exists.
    std::int64_t macs_of_row(const at::RecordFunction& function) const;
};

/// Returns the operation's own inputs: in TorchScript function.inputs() is the interpreter's stack.
c10::ArrayRef<const c10::IValue> inputs_of(const at::RecordFunction& function);

/// Whether the operation is scaled_dot_product_attention, or a kernel of it.
bool is_attention(const at::RecordFunction& function);

/// Call it before `function` runs. Returns nullptr for operations that are not counted.
std::unique_ptr<Products> products_of(const at::RecordFunction& function);

}  // namespace ranklab::nn
