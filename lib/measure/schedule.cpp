#include "measure/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace ranklab::measure {
namespace {

void check(std::int64_t warmup, std::int64_t steps) {
    if (warmup < steps) return;
    throw base::OptionError(
        fmt::format(
            "a warm-up of {} steps, which is the beginning of the first epoch, leaves nothing to measure "
            "of {}; give more epochs or a shorter warm-up",
            warmup, steps),
        {"epochs", "warmup"});
}

}  // namespace

std::int64_t default_warmup(std::int64_t steps) {
    return std::min<std::int64_t>(10, steps / 10);
}

Schedule schedule_steps(std::int64_t steps, std::int64_t warmup, std::int64_t steps_per_epoch) {
    return {.warmup = warmup, .total = warmup + steps, .steps_per_epoch = steps_per_epoch};
}

Schedule schedule_epochs(std::int64_t epochs, std::int64_t warmup, std::int64_t steps_per_epoch) {
    const std::int64_t total = epochs * steps_per_epoch;
    check(warmup, total);
    return {.warmup = warmup, .total = total, .steps_per_epoch = steps_per_epoch};
}

Schedule resume_after(Schedule schedule, std::int64_t completed) {
    if (completed >= schedule.total) {
        throw base::OptionError(
            fmt::format(
                "all {} planned steps are done: the checkpoint is that of step {}; give more to go on",
                schedule.total, completed),
            {"steps", "epochs"});
    }
    schedule.first = completed;
    schedule.warmup = std::min(schedule.warmup, schedule.total - completed - 1);
    return schedule;
}

}  // namespace ranklab::measure
