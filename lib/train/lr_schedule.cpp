#include "train/lr_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::train {
namespace {

std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        throw base::OptionError(
            fmt::format("unknown name '{}'; use {}", name, base::join(names, ", ")));
    return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

const std::vector<std::string>& lr_shape_names() {
    static const std::vector<std::string> names{"none", "step", "cosine", "cosine-published"};
    return names;
}

const std::vector<std::string>& lr_scaling_names() {
    static const std::vector<std::string> names{"none", "sqrt", "linear"};
    return names;
}

LrShape lr_shape_named(const std::string& name) {
    return static_cast<LrShape>(index_of(lr_shape_names(), name));
}

LrScaling lr_scaling_named(const std::string& name) {
    return static_cast<LrScaling>(index_of(lr_scaling_names(), name));
}

bool is_cosine(LrShape shape) {
    return shape == LrShape::cosine || shape == LrShape::cosine_published;
}

double step_lr(double base, double gamma, std::int64_t epoch) {
    return base * std::pow(gamma, static_cast<double>(epoch));
}

double scaled_lr(double lr, LrScaling scaling, std::int64_t global_batch, std::int64_t base_batch) {
    const double ratio = static_cast<double>(global_batch) / static_cast<double>(base_batch);
    switch (scaling) {
        case LrScaling::sqrt:
            return lr * std::sqrt(ratio);
        case LrScaling::linear:
            return lr * ratio;
        case LrScaling::none:
            break;
    }
    return lr;
}

std::int64_t published_total_steps(std::int64_t epochs, std::int64_t samples,
                                   std::int64_t global_batch) {
    return epochs * (samples / global_batch);
}

LrSchedule::LrSchedule(const LrSettings& settings)
    : settings_(settings),
      initial_(
          scaled_lr(settings.lr, settings.scaling, settings.global_batch, settings.base_batch)),
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
            return ramp * step_lr(initial_, settings_.gamma, epoch);
        case LrShape::cosine_published:
            return step < warmup_ ? ramp * initial_ : cosine(after, total);
        case LrShape::cosine:
            break;
    }
    if (step <= warmup_) return ramp * initial_;
    if (step >= settings_.total_steps) return settings_.end_lr;
    return cosine(after, total - static_cast<double>(warmup_));
}

LrRange lr_range(const LrSchedule& schedule, std::int64_t steps) {
    // Extremes of warm-up and cosines lie at these steps only.
    const std::int64_t warmup = schedule.warmup_steps();
    const std::int64_t total = schedule.total_steps();
    LrRange range{.first = schedule.rate(0, 0), .highest = 0, .last = schedule.rate(steps - 1, 0)};
    for (const std::int64_t made :
         {std::int64_t{0}, warmup - 1, warmup, total - 1, total + warmup - 1, steps - 1}) {
        if (made >= 0 && made < steps)
            range.highest = std::max(range.highest, schedule.rate(made, 0));
    }
    return range;
}

}  // namespace ranklab::train
