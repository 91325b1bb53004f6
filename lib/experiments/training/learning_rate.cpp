#include "experiments/training/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace ranklab::experiments {
namespace {

using vocabulary::CommonSettings;
using vocabulary::settle;
using vocabulary::TrainingSettings;

// Below the largest fp32 number, 3.4e38.
constexpr double kHighestRate = 1e38;

std::string number(double value) {
    return fmt::format("{:.6g}", value);
}

}  // namespace

train::LrSettings settle_learning_rate(TrainingSettings& settings, const CommonSettings& common) {
    const auto shape = base::named<train::LrShape>(train::kLrShapes, *settings.lr_schedule).value();
    if (train::is_cosine(shape) && settings.steps)
        settle(settings.lr_total_steps, *settings.steps + common.warmup.value_or(0));
    return {
        .shape = shape,
        .scaling = base::named<train::LrScaling>(train::kLrScalings, *settings.lr_scaling).value(),
        .lr = *settings.lr,
        .end_lr = settings.end_lr,
        .gamma = *settings.gamma,
        .global_batch = *settings.global_batch_size,
        .base_batch = *settings.base_batch_size,
        .warmup_steps = *settings.lr_warmup_steps,
        .total_steps = settings.lr_total_steps.value_or(0)};
}

void settle_lr_total(TrainingSettings& all, train::LrSettings& settings, std::int64_t samples,
                     std::int64_t run_steps) {
    if (!train::is_cosine(settings.shape) || settings.total_steps > 0) return;
    settings.total_steps = settings.shape == train::LrShape::cosine_published
                               ? all.epochs.value_or(0) * (samples / settings.global_batch)
                               : run_steps;
    static_cast<void>(train::LrSchedule(settings));  // refuses a cosine over no steps
    all.lr_total_steps = settings.total_steps;
}

std::string lr_text(const train::LrSettings& settings) {
    train::LrSettings rising = settings;
    rising.shape = train::LrShape::none;
    const train::LrSchedule schedule(rising);
    const std::string until = settings.total_steps > 0
                                  ? fmt::format("until step {}", settings.total_steps)
                                  : "over the run's steps";
    const std::string then =
        train::is_cosine(settings.shape)
            ? fmt::format(", then falls towards {} {}", number(settings.end_lr), until)
        : settings.shape == train::LrShape::step
            ? fmt::format(", times {} each epoch", number(settings.gamma))
            : "";
    if (schedule.warmup_steps() == 0) return number(schedule.initial()) + then;
    return fmt::format("{} at the first step, {} from step {} on{}", number(schedule.rate(0, 0)),
                       number(schedule.initial()), schedule.warmup_steps(), then);
}

void check_rates(const train::LrSettings& settings, std::int64_t last_step,
                 std::int64_t last_epoch) {
    const train::LrSchedule schedule(settings);
    const double highest =
        settings.shape == train::LrShape::step
            ? std::max(schedule.rate(last_step, 0), schedule.rate(last_step, last_epoch))
            : std::max(schedule.initial(), settings.end_lr);
    if (std::isfinite(highest) && highest <= kHighestRate) return;
    throw base::OptionError(
        fmt::format("the learning rate would rise to {}, too large for fp32 parameters; give a "
                    "smaller --lr or --gamma, or another --lr-scaling",
                    number(highest)));
}

std::string lr_warning(const train::LrSettings& settings, std::int64_t run_steps) {
    const auto warmup = train::LrSchedule(settings).warmup_steps();
    if (run_steps >= warmup) return "";
    return fmt::format(
        "the run's {} steps end within the {} steps over which the learning rate rises "
        "(--lr-warmup-steps)",
        run_steps, warmup);
}

}  // namespace ranklab::experiments
