// What has to be the same in a run that goes on from a checkpoint. No torch in here.
#pragma once

#include <algorithm>
#include <string_view>

#include "experiments/training/checkpoint_file.hpp"
#include "options/options.hpp"

namespace ranklab::experiments {

/// The options that decide the numbers, as the vocabulary has them, with their settled values, and `facts`
/// behind them.
CheckpointSettings settings_of_numbers(const options::Options& options, CheckpointSettings facts);

/// The value of one; nullptr where it is not among them.
auto* find_setting(auto& settings, std::string_view name) {
    const auto found = std::find_if(settings.begin(), settings.end(),
                                    [name](const auto& setting) { return setting.first == name; });
    return found == settings.end() ? nullptr : &found->second;
}

/// OptionError that names each difference with both values, unless there is none.
void check_same_settings(const CheckpointSettings& now, const CheckpointSettings& stored);

}  // namespace ranklab::experiments
