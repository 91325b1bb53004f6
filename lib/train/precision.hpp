// A step's precision, its tensors' memory format and the scaling of its loss (docs/precision.md).
#pragma once

#include <c10/core/DeviceType.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nn/model.hpp"
#include "train/optimizer.hpp"

namespace ranklab::train {

/// fp64, fp32: type of parameters and arithmetic. tf32: parameters in fp32, and products on a GPU's
/// tensor cores with factors of 11 bits. bf16, fp16: parameters in fp32, and torch's autocast for
/// operations that are safe in 16 bits; fp16 needs a GradScaler.
enum class Precision { fp64, fp32, tf32, bf16, fp16 };

/// OptionError for another name.
Precision precision_named(const std::string& name);
/// The type of parameters, gradients and input.
torch::Dtype parameter_type(Precision precision);

/// OptionError where that kind of device has no such arithmetic.
void check_precision(Precision precision, torch::DeviceType device);

/// Returns `model`, or for bf16 and fp16 a decorator of it that computes forward and loss under
/// autocast. The casts of the parameters are kept for one forward, as torch.autocast does. fp64 and
/// fp32 need only model->to().
std::shared_ptr<nn::Model> in_precision(std::shared_ptr<nn::Model> model, Precision precision,
                                        torch::DeviceType device);

/// How far two computations of a gradient may differ, relative to its largest element, where the
/// device's results vary from call to call: a rounding or two. 0 on the CPU, where the same
/// operations give the same bits.
double rounding_bound(Precision precision, torch::DeviceType device);

/// The factor of the loss in the checks before the first step. In fp16 gradients below 6e-8 would
/// become zeros there, as in training; a factor of 1024 does not overflow yet. 1 in other
/// precisions.
double gate_scale(Precision precision);

/// Sets for the process whether fp32 products on a GPU use TF32. LibTorch's own default is on for
/// convolutions and off for matrix products: neither fp32 nor tf32.
void allow_tf32(bool allow);

// Images and volumes with their channels innermost in memory (NHWC, NDHWC), which tensor cores and
// oneDNN's convolutions take without reordering. Sizes and values stay as they are.

/// A tensor of 4 or 5 dimensions with its channels (dimension 1) innermost; other tensors stay as
/// they are. It copies only where the order differs.
torch::Tensor channels_last(const torch::Tensor& tensor);

/// Converts the model's parameters and buffers where they have such a form. To be called before
/// gradients and optimizers are made, since these take over the strides.
void use_channels_last(nn::Model& model);

/// A model around another one, which computes in some other way.
/// Parameters, buffers and submodules are the inner model's own, registered under their own names:
/// optimizers, checkpoints and parameter files see no difference.
class DecoratedModel : public nn::Model {
  public:
    explicit DecoratedModel(std::shared_ptr<nn::Model> inner) : inner_(std::move(inner)) {
        for (const auto& item : inner_->named_parameters(/*recurse=*/false))
            register_parameter(item.key(), item.value(), item.value().requires_grad());
        for (const auto& item : inner_->named_buffers(/*recurse=*/false))
            register_buffer(item.key(), item.value());
        for (const auto& item : inner_->named_children()) register_module(item.key(), item.value());
    }

    torch::Tensor forward(const torch::Tensor& input) override { return inner_->forward(input); }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        return inner_->loss(output, targets);
    }
    // The children are shared, the flag of the inner model itself is not.
    void train(bool on = true) override {
        Module::train(on);
        inner_->train(on);
    }

  protected:
    nn::Model& inner() { return *inner_; }

  private:
    std::shared_ptr<nn::Model> inner_;
};

struct GradScalerConfig {
    double init_scale = 65536;
    double growth_factor = 2;
    double backoff_factor = 0.5;
    std::int64_t growth_interval = 2000;  ///< made steps in a row after which the scale grows
};

/// Scales the loss for fp16, whose smallest number is 6e-8: smaller gradients would be zeros. The
/// loss is multiplied before backward, the gradients are divided before the optimizer. Where one is
/// not finite the step is skipped and the scale falls; growth_interval steps in a row raise it.
///
/// Every rank has one, and all get the same scale without communication: each looks at the
/// gradients after they are summed over ranks, which have the same bits everywhere, and one rank's
/// inf or NaN is in the sum. With a sync that sums nothing each rank decides alone.
class GradScaler {
  public:
    explicit GradScaler(const GradScalerConfig& config = {});

    /// The start of backward: loss x scale, in fp32 at least.
    torch::Tensor scaled(const torch::Tensor& loss) const;
    /// Divides the parameters' gradients in place; makes the optimizer's step if all are finite;
    /// adapts the scale. Returns whether the step was made. Waits for the device.
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
