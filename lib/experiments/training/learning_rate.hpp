// The learning rate's options, and what becomes of them (docs/learning_rate.md). No torch in here.
#pragma once

#include <cstdint>
#include <string>

#include "train/lr_schedule.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

/// As the model's document has them.
struct LrDefaults {
    double lr = 0.01;
    std::string schedule = "none";
    std::string scaling = "none";
    double gamma = 1;
    std::int64_t base_batch = 1;
    std::int64_t warmup_steps = 0;
};

/// Settles the learning rate's options, once batch and length are settled: with --steps the cosines
/// fall over these and the warm-up. OptionError for impossible ones.
train::LrSettings settle_learning_rate(vocabulary::TrainingSettings& settings,
                                       const vocabulary::CommonSettings& common,
                                       const LrDefaults& defaults);

/// Settles the steps that a cosine falls over, where neither --lr-total-steps nor --steps gives
/// them: `run_steps`, all of the run, or the published form's number from epochs and samples.
void settle_lr_total(vocabulary::TrainingSettings& all, train::LrSettings& settings,
                     std::int64_t samples, std::int64_t run_steps);

/// A text for the user before the run: the first and highest rate, and the last one where the steps
/// are known. `run_steps`: --steps and the warm-up; 0: not known.
std::string lr_text(const train::LrSettings& settings, std::int64_t run_steps);

/// OptionError where a rate of the run is not a usable number.
void check_rates(const train::LrSettings& settings, std::int64_t last_step,
                 std::int64_t last_epoch);

/// A sentence where the run ends before the rate has risen; else empty.
std::string lr_warning(const train::LrSettings& settings, std::int64_t run_steps);

}  // namespace ranklab::experiments
