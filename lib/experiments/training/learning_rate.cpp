#include "experiments/training/learning_rate.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"

namespace ranklab::experiments {
namespace {

void settle_default(options::Options& options, const std::string& name, const std::string& value) {
    if (!options.has(name)) options.resolve(name, value);
}

// What fp32 holds is 3e38.
constexpr double kHighestRate = 1e38;

std::string number(double value) {
    return fmt::format("{:.6g}", value);
}

}  // namespace

void describe_learning_rate(options::Schema& schema) {
    schema
        .real("lr", {0, kHighestRate}, std::nullopt,
              "learning rate at the base batch (default: the model's or the optimizer's)")
        .choice("lr-schedule", train::lr_shape_names(), std::nullopt,
                "step: lr times gamma^epoch; cosine: down to --end-lr at the last step; cosine-published: as "
                "the U-Net tutorial's code (default: the model's)")
        .real("gamma", 0, std::nullopt,
              "factor of --lr-schedule step (default: the model's, 0.7 for mnist-cnn)")
        .choice("lr-scaling", train::lr_scaling_names(), std::nullopt,
                "of lr with global batch / base batch (default: the model's, sqrt for unet3d, none else)")
        .integer("base-batch-size", 1, std::nullopt,
                 "global batch that lr is meant for (default: the model's, 32 for unet3d, 64 for mnist-cnn)")
        .integer("lr-warmup-steps", 0, std::nullopt,
                 "steps over which a scaled rate rises from 0, where the global batch is above the base "
                 "(default: the model's, 128 for unet3d, 0 else)")
        .real("end-lr", 0, "0", "where the cosines end")
        .integer("lr-total-steps", 1, std::nullopt,
                 "steps over which the cosines fall (default: all of the run; cosine-published with "
                 "--epochs: epochs x (samples / global batch), rounded down)");
}

train::LrSettings settle_learning_rate(options::Options& options, const LrDefaults& defaults) {
    settle_default(options, "lr", fmt::format("{}", defaults.lr));
    settle_default(options, "lr-schedule", defaults.schedule);
    settle_default(options, "gamma", fmt::format("{}", defaults.gamma));
    settle_default(options, "lr-scaling", defaults.scaling);
    settle_default(options, "base-batch-size", fmt::format("{}", defaults.base_batch));
    settle_default(options, "lr-warmup-steps", fmt::format("{}", defaults.warmup_steps));
    const auto shape = train::lr_shape_named(options.text("lr-schedule"));
    if (!train::is_cosine(shape) && options.is_set("lr-total-steps")) {
        throw base::OptionError(
            fmt::format("--lr-total-steps is of the cosines, but the schedule is {}; say --lr-schedule "
                        "cosine too, or leave --lr-total-steps out",
                        options.text("lr-schedule")));
    }
    if (train::is_cosine(shape) && options.is_set("steps"))
        settle_default(options, "lr-total-steps",
                       fmt::format("{}", options.integer("steps") + options.integer("warmup")));
    return {.shape = shape,
            .scaling = train::lr_scaling_named(options.text("lr-scaling")),
            .lr = options.real("lr"),
            .end_lr = options.real("end-lr"),
            .gamma = options.real("gamma"),
            .global_batch = options.integer("global-batch-size"),
            .base_batch = options.integer("base-batch-size"),
            .warmup_steps = options.integer("lr-warmup-steps"),
            .total_steps = options.has("lr-total-steps") ? options.integer("lr-total-steps") : 0};
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
    const std::int64_t steps = options.is_set("steps") ? options.integer("steps") + options.integer("warmup")
                               : falls                 ? settings.total_steps
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
