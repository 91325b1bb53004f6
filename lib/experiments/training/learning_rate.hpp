// The learning rate's options (docs/learning_rate.md). No LibTorch in here.
#pragma once

#include <cstdint>
#include <string>

#include "train/lr_schedule.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

/// Returns the learning rate of settled options. Settles --lr-total-steps of a cosine if --steps is
/// given: the rate then falls over warm-up and steps.
train::LrSettings settle_learning_rate(vocabulary::TrainingSettings& settings,
                                       const vocabulary::CommonSettings& common);

/// Settles the length of a cosine if neither --lr-total-steps nor --steps gives it: `run_steps`,
/// the steps of the run, or for cosine_published epochs x floor(samples / global batch).
void settle_lr_total(vocabulary::TrainingSettings& all, train::LrSettings& settings,
                     std::int64_t samples, std::int64_t run_steps);

/// Returns the header's text: the first and the highest rate, and the last if the steps are known.
/// `run_steps`: warm-up and --steps; 0: not known.
std::string lr_text(const train::LrSettings& settings, std::int64_t run_steps);

/// Throws OptionError if a rate of the run is not finite or too large for fp32.
void check_rates(const train::LrSettings& settings, std::int64_t last_step,
                 std::int64_t last_epoch);

/// Returns a warning if the run ends before --lr-warmup-steps, or "".
std::string lr_warning(const train::LrSettings& settings, std::int64_t run_steps);

}  // namespace ranklab::experiments
