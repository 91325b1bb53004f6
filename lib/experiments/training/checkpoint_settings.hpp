// What has to be the same in a run that goes on from a checkpoint. No torch in here.
#pragma once

#include <cstdint>

#include "experiments/training/checkpoint_file.hpp"
#include "options/options.hpp"

namespace ranklab::experiments {

/// The options that decide the numbers, as the vocabulary has them, with their settled values, and `facts`
/// behind them.
CheckpointSettings settings_of_numbers(const options::Options& options, CheckpointSettings facts);

/// OptionError that names each difference with both values, unless there is none.
void check_same_settings(const CheckpointSettings& now, const CheckpointSettings& stored);

}  // namespace ranklab::experiments
