// Which steps are warm-up, which count, and where epochs end.
#pragma once

#include <cstdint>

namespace ranklab::measure {

/// Steps first .. first+warmup-1 are recorded and excluded; the others up to total-1 count.
struct Schedule {
    std::int64_t warmup = 0;
    std::int64_t total = 0;
    std::int64_t steps_per_epoch = 1;
    std::int64_t first = 0;  ///< those before it were done by the run that this one goes on from

    std::int64_t counted() const { return total - first - warmup; }
    bool counts(std::int64_t step) const { return step >= first + warmup; }
    std::int64_t epoch_of(std::int64_t step) const { return step / steps_per_epoch; }
    bool ends_epoch(std::int64_t step) const { return (step + 1) % steps_per_epoch == 0; }
};

/// The interface's default: min(10, steps/10).
std::int64_t default_warmup(std::int64_t steps);

/// `steps` counted steps after `warmup` more.
Schedule schedule_steps(std::int64_t steps, std::int64_t warmup, std::int64_t steps_per_epoch);

/// Whole epochs; the warm-up is the beginning of the first one, since an epoch is every sample once.
/// OptionError where it leaves nothing to measure.
Schedule schedule_epochs(std::int64_t epochs, std::int64_t warmup, std::int64_t steps_per_epoch);

/// The rest of a plan of which `completed` steps are done. Its first steps are warm-up again, as many as
/// planned, but that one counts. Throws OptionError when nothing is left.
Schedule resume_after(Schedule schedule, std::int64_t completed);

}  // namespace ranklab::measure
