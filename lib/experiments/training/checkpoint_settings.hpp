// What has to be the same in a run that goes on from a checkpoint. No torch in here.
#pragma once

#include <cstdint>

#include "experiments/training/checkpoint_file.hpp"
#include "options/options.hpp"

namespace ranklab::experiments {

/// The options that decide the numbers, with their settled values, and `facts` behind them. An option that
/// changes what is computed has to be in this function's list.
CheckpointSettings settings_of_numbers(const options::Options& options, CheckpointSettings facts);

/// OptionError that names each difference with both values, unless there is none.
void check_same_settings(const CheckpointSettings& now, const CheckpointSettings& stored);

}  // namespace ranklab::experiments
