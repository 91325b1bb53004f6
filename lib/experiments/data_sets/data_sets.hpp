// `ranklab data`: makes, verifies and converts data sets, on one or many ranks.
#pragma once

#include <optional>
#include <string>

#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

Tool data_sets_tool();

/// The verbs.
Experiment make_cosmology_verb();
Experiment make_cifar100_verb();
Experiment make_mnist_verb();
Experiment make_tokens_verb();
Experiment verify_verb();
Experiment convert_verb();

/// The options of the verbs that write.
struct OutputSettings {
    std::optional<std::string> output;
    bool force = false;
};

/// Returns the settings with `output`: the positional argument of that index, --output, or
/// `fallback`. Throws OptionError if both the argument and --output are given.
OutputSettings output_of(const options::Options& given, std::size_t word,
                         const std::string& fallback);

}  // namespace ranklab::experiments
