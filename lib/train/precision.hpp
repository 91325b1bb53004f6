// Precision, memory format and loss scaling of a training step (docs/precision.md).
#pragma once

#include <c10/core/DeviceType.h>
#include <torch/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/model.hpp"
#include "train/optimizer.hpp"

namespace ranklab::train {

/// fp64, fp32: type of parameters and arithmetic. tf32: fp32 parameters, products on a GPU's tensor
/// cores, which round the factors to 11 significant bits. bf16, fp16: fp32 parameters, torch's
/// autocast for operations that are safe in 16 bits; fp16 needs a GradScaler.
enum class Precision { fp64, fp32, tf32, bf16, fp16 };

inline constexpr std::array<std::string_view, 5> kPrecisions{"fp64", "fp32", "tf32", "bf16",
                                                             "fp16"};
/// The type of parameters, gradients and input.
torch::Dtype parameter_type(Precision precision);

/// Returns `model`; for bf16 and fp16 a decorator that computes forward and loss under autocast,
/// and caches the cast parameters for one forward, as torch.autocast does.
std::shared_ptr<nn::Model> in_precision(std::shared_ptr<nn::Model> model, Precision precision,
                                        torch::DeviceType device);

/// The allowed difference between two computations of a gradient, relative to its largest element,
/// on a device whose results vary by rounding from call to call. 0 on the CPU: results are equal.
double rounding_bound(Precision precision, torch::DeviceType device);

/// The loss factor in the checks before the first step: 1024 in fp16, where gradients below 6e-8
/// would become 0 and larger factors may overflow; otherwise 1.
double gate_scale(Precision precision);

// Channels-last memory format (NHWC, NDHWC), which tensor cores and oneDNN's convolutions take
// without reordering. Sizes and values do not change.

/// Returns a tensor of 4 or 5 dimensions in channels-last format, a copy if it is not; other
/// tensors unchanged.
torch::Tensor channels_last(const torch::Tensor& tensor);

/// Converts the model's parameters and buffers. Call it before gradients and optimizers are made,
/// since these copy the strides.
void use_channels_last(nn::Model& model);

/// A model that wraps another one and changes how it computes. Shares the inner model's parameters,
/// buffers and submodules under their names, so that optimizers, checkpoints and parameter files
/// see no difference.
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
    // The submodules are shared, but the inner model has a training flag of its own.
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
    std::int64_t growth_interval = 2000;  ///< steps without a skip after which the scale grows
};

/// Loss scaling for fp16, in which gradients below 6e-8 would become 0. Multiplies the loss before
/// backward and divides the gradients before the optimizer's step. If a gradient is not finite,
/// skips the step and lowers the scale; after growth_interval steps without a skip raises it.
///
/// All ranks get the same scale without communication: each checks the gradients summed over ranks,
/// which are bitwise equal and contain any rank's inf or NaN. With --sync none each rank decides
/// for itself; with --zero ranks hold parts of the gradients and agree through `sum`.
class GradScaler {
  public:
    explicit GradScaler(const GradScalerConfig& config = {});

    /// loss x scale, at least in fp32, for backward.
    torch::Tensor scaled(const torch::Tensor& loss) const;
    /// Divides the parameters' gradients in place, makes the optimizer's step if all are finite,
    /// and adapts the scale. Returns whether it made the step. Blocks on the device. `sum`: if
    /// ranks hold different gradients, sums over ranks how many have found an inf or NaN.
    bool step(const std::vector<torch::Tensor>& parameters, Optimizer& optimizer,
              const std::function<double(double)>& sum = {});

    double scale() const { return static_cast<double>(scale_); }
    /// Steps since the scale last changed.
    std::int64_t growth_tracker() const { return growth_tracker_; }
    /// Total of skipped steps; the learning rate's schedule does not count them.
    std::int64_t skipped() const { return skipped_; }

    /// The state as bytes, for a checkpoint. load() throws DataError for bytes of another form.
    std::string save() const;
    void load(const std::string& state);

  private:
    bool unscale(const std::vector<torch::Tensor>& parameters) const;
    void update(bool found_inf);

    GradScalerConfig config_;
    float scale_;  // float, as in PyTorch
    std::int64_t growth_tracker_ = 0;
    std::int64_t skipped_ = 0;
};

}  // namespace ranklab::train
