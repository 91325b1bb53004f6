#include "experiments/training/learning_rate.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"

namespace ranklab::experiments {
namespace {

// What fp32 holds is 3e38.
constexpr double kHighestRate = 1e38;

std::string number(double value) {
    return fmt::format("{:.6g}", value);
}

}  // namespace

train::LrSettings settle_learning_rate(options::Options& options, const LrDefaults& defaults) {
    options.resolve_default("lr", fmt::format("{}", defaults.lr));
    options.resolve_default("lr-schedule", defaults.schedule);
    options.resolve_default("gamma", fmt::format("{}", defaults.gamma));
    options.resolve_default("lr-scaling", defaults.scaling);
    options.resolve_default("base-batch-size", fmt::format("{}", defaults.base_batch));
    options.resolve_default("lr-warmup-steps", fmt::format("{}", defaults.warmup_steps));
    const auto shape = train::lr_shape_named(options.text("lr-schedule"));
    if (train::is_cosine(shape) && options.has("steps"))
        options.resolve_default("lr-total-steps",
                                fmt::format("{}", options.integer("steps") + options.integer("warmup")));
    return {.shape = shape,
            .scaling = train::lr_scaling_named(options.text("lr-scaling")),
            .lr = options.real("lr"),
            .end_lr = options.real("end-lr"),
            .gamma = options.real("gamma"),
            .global_batch = options.integer("global-batch-size"),
            .base_batch = options.integer("base-batch-size"),
            .warmup_steps = options.integer("lr-warmup-steps"),
            .total_steps = options.integer_or("lr-total-steps", 0)};
}

void settle_lr_total(options::Options& options, train::LrSettings& settings, std::int64_t samples,
                     std::int64_t run_steps) {
    if (!train::is_cosine(settings.shape) || settings.total_steps > 0) return;
    settings.total_steps =
        settings.shape == train::LrShape::cosine_published
            ? train::published_total_steps(options.integer("epochs"), samples, settings.global_batch)
            : run_steps;
    static_cast<void>(train::LrSchedule(settings));  // refuses a cosine over no steps
    options.resolve("lr-total-steps", fmt::format("{}", settings.total_steps));
}

std::string lr_text(const options::Options& options, const train::LrSettings& settings) {
    const bool falls = train::is_cosine(settings.shape);
    const std::int64_t steps = options.has("steps") ? options.integer("steps") + options.integer("warmup")
                               : falls              ? settings.total_steps
                                                    : 0;
    if (steps > 0 && settings.shape != train::LrShape::step) {
        const auto range = train::lr_range(train::LrSchedule(settings), steps);
        return fmt::format("{} at the first step, {} at most, {} at step {}", number(range.first),
                           number(range.highest), number(range.last), steps);
    }
    train::LrSettings rising = settings;
    rising.shape = train::LrShape::none;
    const train::LrSchedule schedule(rising);
    const std::string then =
        falls ? fmt::format(", then falls to {} over the run's steps", number(settings.end_lr))
        : settings.shape == train::LrShape::step
            ? fmt::format(", times {} each epoch", number(settings.gamma))
            : "";
    if (schedule.warmup_steps() == 0) return number(schedule.initial()) + then;
    return fmt::format("{} at the first step, {} from step {} on{}", number(schedule.rate(0, 0)),
                       number(schedule.initial()), schedule.warmup_steps(), then);
}

void check_rates(const train::LrSettings& settings, std::int64_t last_step, std::int64_t last_epoch) {
    const train::LrSchedule schedule(settings);
    for (const std::int64_t epoch : {std::int64_t{0}, last_epoch}) {
        const double rate = schedule.rate(last_step, epoch);
        if (std::isfinite(rate) && rate <= kHighestRate) continue;
        throw base::OptionError(fmt::format(
            "the learning rate of epoch {} would be {}, which no parameter can take; give a smaller "
            "--lr, or with --lr-schedule step a smaller --gamma",
            epoch + 1, number(rate)));
    }
    if (settings.shape == train::LrShape::step) return;
    const double highest = train::lr_range(schedule, last_step + 1).highest;
    if (std::isfinite(highest) && highest <= kHighestRate) return;
    throw base::OptionError(fmt::format(
        "the learning rate would rise to {}, which no parameter can take; give a smaller --lr, or another "
        "--lr-scaling",
        number(highest)));
}

std::string lr_warning(const train::LrSettings& settings, std::int64_t run_steps) {
    const auto warmup = train::LrSchedule(settings).warmup_steps();
    if (run_steps >= warmup) return "";
    return fmt::format(
        "the run's {} steps end within the {} steps over which the learning rate rises (--lr-warmup-steps)",
        run_steps, warmup);
}

}  // namespace ranklab::experiments
