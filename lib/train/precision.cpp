#include "train/precision.hpp"

#include <ATen/autocast_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/handle.hpp"
#include "base/numbers.hpp"
#include "base/pack.hpp"

namespace ranklab::train {
namespace {

// Enables torch.autocast in this thread while the object lives.
class Autocast : base::Immovable {
  public:
    Autocast(torch::DeviceType device, torch::Dtype type)
        : device_(device),
          was_enabled_(at::autocast::is_autocast_enabled(device)),
          type_before_(at::autocast::get_autocast_dtype(device)) {
        at::autocast::set_autocast_enabled(device, true);
        at::autocast::set_autocast_dtype(device, type);
        at::autocast::increment_nesting();
    }
    ~Autocast() {
        if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(device_, was_enabled_);
        at::autocast::set_autocast_dtype(device_, type_before_);
    }

  private:
    torch::DeviceType device_;
    bool was_enabled_;
    torch::Dtype type_before_;
};

class AutocastModel final : public DecoratedModel {
  public:
    AutocastModel(std::shared_ptr<nn::Model> inner, torch::DeviceType device, torch::Dtype type)
        : DecoratedModel(std::move(inner)), device_(device), type_(type) {}

    torch::Tensor forward(const torch::Tensor& input) override {
        const Autocast scope(device_, type_);
        return DecoratedModel::forward(input);
    }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        const Autocast scope(device_, type_);
        return DecoratedModel::loss(output, targets);
    }

  private:
    torch::DeviceType device_;
    torch::Dtype type_;
};

}  // namespace

torch::Dtype parameter_type(Precision precision) {
    return precision == Precision::fp64 ? torch::kDouble : torch::kFloat;
}

std::shared_ptr<nn::Model> in_precision(std::shared_ptr<nn::Model> model, Precision precision,
                                        torch::DeviceType device) {
    if (precision == Precision::bf16)
        return std::make_shared<AutocastModel>(std::move(model), device, torch::kBFloat16);
    if (precision == Precision::fp16)
        return std::make_shared<AutocastModel>(std::move(model), device, torch::kHalf);
    return model;
}

double gate_scale(Precision precision) {
    return precision == Precision::fp16 ? 1024 : 1;
}

double rounding_bound(Precision precision, torch::DeviceType device) {
    if (device == torch::kCPU) return 0.0;
    switch (precision) {
        case Precision::fp64:
            return 1e-10;
        case Precision::fp32:
            // Covers cuDNN's algorithms (Winograd) and the varying order of atomic additions.
            return 1e-3;
        case Precision::tf32:
        case Precision::fp16:
            return 2e-2;
        case Precision::bf16:
            return 1e-1;
    }
    throw base::Error("internal: unknown precision");
}

torch::Tensor channels_last(const torch::Tensor& tensor) {
    if (tensor.dim() == 4) return tensor.contiguous(torch::MemoryFormat::ChannelsLast);
    if (tensor.dim() == 5) return tensor.contiguous(torch::MemoryFormat::ChannelsLast3d);
    return tensor;
}

void use_channels_last(nn::Model& model) {
    const torch::NoGradGuard no_gradients;
    for (auto parameter : model.parameters()) parameter.set_data(channels_last(parameter.detach()));
    for (auto buffer : model.buffers()) buffer.set_data(channels_last(buffer.detach()));
}

GradScaler::GradScaler(const GradScalerConfig& config)
    : config_(config), scale_(static_cast<float>(config.init_scale)) {}

torch::Tensor GradScaler::scaled(const torch::Tensor& loss) const {
    // An fp16 loss would overflow at the initial scale.
    const bool narrow =
        loss.scalar_type() == torch::kHalf || loss.scalar_type() == torch::kBFloat16;
    return (narrow ? loss.to(torch::kFloat) : loss) * static_cast<double>(scale_);
}

bool GradScaler::step(const std::vector<torch::Tensor>& parameters, Optimizer& optimizer,
                      const std::function<double(double)>& sum) {
    bool found_inf = unscale(parameters);
    if (sum) found_inf = sum(found_inf ? 1 : 0) > 0;
    if (!found_inf) optimizer.step();
    update(found_inf);
    return !found_inf;
}

// Divides the gradients by the scale. Returns true if one is not finite.
bool GradScaler::unscale(const std::vector<torch::Tensor>& parameters) const {
    const torch::NoGradGuard no_gradients;
    std::vector<torch::Tensor> gradients;
    for (const auto& parameter : parameters)
        if (parameter.grad().defined()) gradients.push_back(parameter.grad());
    if (gradients.empty()) return false;
    const auto options = gradients.front().options().dtype(torch::kFloat);
    torch::Tensor found_inf = torch::zeros({1}, options);
    // Computes the reciprocal in double and then rounds it, as PyTorch does.
    const auto inverse = static_cast<float>(1.0 / static_cast<double>(scale_));
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf,
                                                   torch::full({1}, inverse, options));
    return found_inf.item<float>() != 0.0F;
}

// Adapts the scale, with the arithmetic of at::_amp_update_scale_.
void GradScaler::update(bool found_inf) {
    if (found_inf) {
        scale_ = static_cast<float>(static_cast<double>(scale_) * config_.backoff_factor);
        growth_tracker_ = 0;
        ++skipped_;
        return;
    }
    if (++growth_tracker_ < config_.growth_interval) return;
    growth_tracker_ = 0;
    const auto grown = static_cast<float>(static_cast<double>(scale_) * config_.growth_factor);
    if (std::isfinite(grown)) scale_ = grown;
}

std::string GradScaler::save() const {
    return base::packed(std::array{scale(), base::real(growth_tracker_), base::real(skipped_)});
}

void GradScaler::load(const std::string& state) {
    const auto read = base::unpacked<std::array<double, 3>>(state);
    const auto counts = [](double value) { return std::isfinite(value) && value >= 0; };
    if (!read || !std::ranges::all_of(*read, counts) || read->front() == 0)
        throw base::DataError(
            "the checkpoint's state of the gradient scaler is invalid; use another checkpoint");
    scale_ = static_cast<float>((*read)[0]);
    growth_tracker_ = static_cast<std::int64_t>((*read)[1]);
    skipped_ = static_cast<std::int64_t>((*read)[2]);
}

}  // namespace ranklab::train
