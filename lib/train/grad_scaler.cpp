#include "train/grad_scaler.hpp"

#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"

namespace ranklab::train {
GradScaler::GradScaler(const GradScalerConfig& config)
    : config_(config), scale_(static_cast<float>(config.init_scale)) {}

torch::Tensor GradScaler::scaled(const torch::Tensor& loss) const {
    // A loss that came out in 16 bits would overflow at the first scale already.
    const bool narrow = loss.scalar_type() == torch::kHalf || loss.scalar_type() == torch::kBFloat16;
    return (narrow ? loss.to(torch::kFloat) : loss) * static_cast<double>(scale_);
}

bool GradScaler::step(const std::vector<torch::Tensor>& parameters, Optimizer& optimizer) {
    const bool found_inf = unscale(parameters);
    if (!found_inf) optimizer.step();
    update(found_inf);
    return !found_inf;
}

// True if one was not finite.
bool GradScaler::unscale(const std::vector<torch::Tensor>& parameters) const {
    const torch::NoGradGuard no_gradients;
    std::vector<torch::Tensor> gradients;
    for (const auto& parameter : parameters) {
        if (parameter.grad().defined()) gradients.push_back(parameter.grad());
    }
    if (gradients.empty()) return false;
    const auto options = gradients.front().options().dtype(torch::kFloat);
    torch::Tensor found_inf = torch::zeros({1}, options);
    // As PyTorch: the reciprocal in double, then rounded.
    const auto inverse = static_cast<float>(1.0 / static_cast<double>(scale_));
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf, torch::full({1}, inverse, options));
    return found_inf.item<float>() != 0.0F;
}

// The arithmetic of at::_amp_update_scale_.
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
    return fmt::format("{} {} {}", scale_, growth_tracker_, skipped_);
}

void GradScaler::load(const std::string& state) {
    auto words = base::split(state, ' ');
    const bool three = words.size() == 3;
    words.resize(3);
    const auto scale = base::number_in<float>(words[0]).value_or(-1);
    const auto tracker = base::number_in<std::int64_t>(words[1]).value_or(-1);
    const auto skipped = base::number_in<std::int64_t>(words[2]).value_or(-1);
    if (!three || !(scale > 0) || !std::isfinite(scale) || tracker < 0 || skipped < 0)
        throw base::DataError("the checkpoint's state of the gradient scaler is invalid");
    scale_ = scale;
    growth_tracker_ = tracker;
    skipped_ = skipped;
}

}  // namespace ranklab::train
