#include "train/lr_schedule.hpp"

#include <cmath>
#include <numbers>

#include "base/error.hpp"

namespace ranklab::train {
namespace {

double scaled_lr(const LrSettings& settings) {
    const double ratio =
        static_cast<double>(settings.global_batch) / static_cast<double>(settings.base_batch);
    switch (settings.scaling) {
        case LrScaling::sqrt:
            return settings.lr * std::sqrt(ratio);
        case LrScaling::linear:
            return settings.lr * ratio;
        case LrScaling::none:
            break;
    }
    return settings.lr;
}

}  // namespace

LrSchedule::LrSchedule(const LrSettings& settings)
    : settings_(settings),
      initial_(scaled_lr(settings)),
      warmup_(settings.scaling != LrScaling::none && settings.global_batch > settings.base_batch
                  ? settings.warmup_steps
                  : 0) {
    if (is_cosine(settings.shape) && settings.total_steps < 1)
        throw base::OptionError(
            "the learning rate's cosine has 0 steps: there are fewer samples than a global batch; "
            "make the batch smaller, or set the steps",
            {"global-batch-size", "lr-total-steps"});
}

double LrSchedule::cosine(double numerator, double denominator) const {
    const double end = settings_.end_lr;
    return end +
           0.5 * (initial_ - end) * (1 + std::cos(std::numbers::pi * numerator / denominator));
}

double LrSchedule::rate(std::int64_t made, std::int64_t epoch) const {
    const std::int64_t step = made + 1;  // from 1, as in the published code
    const auto after = static_cast<double>(step - warmup_);
    const auto total = static_cast<double>(settings_.total_steps);
    const double ramp =
        step < warmup_ ? static_cast<double>(step) / static_cast<double>(warmup_) : 1.0;
    switch (settings_.shape) {
        case LrShape::none:
            return ramp * initial_;
        case LrShape::step:
            return ramp * (initial_ * std::pow(settings_.gamma, static_cast<double>(epoch)));
        case LrShape::cosine_published:
            return step < warmup_ ? ramp * initial_ : cosine(after, total);
        case LrShape::cosine:
            break;
    }
    if (step <= warmup_) return ramp * initial_;
    if (step >= settings_.total_steps) return settings_.end_lr;
    return cosine(after, total - static_cast<double>(warmup_));
}

}  // namespace ranklab::train
