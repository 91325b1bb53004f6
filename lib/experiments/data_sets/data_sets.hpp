// `ranklab data`: makes, verifies and converts data sets, on one or many ranks.
#pragma once

#include <string>
#include <vector>

#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

Tool data_sets_tool();

/// The verbs.
std::vector<Experiment> make_verbs();
Experiment convert_verb();

/// Returns the positional argument of that index, `output` (--output), or `fallback`. Throws
/// OptionError if both the argument and --output are given.
std::string output_of(const options::Options& given, std::size_t word, const std::string& output,
                      const std::string& fallback);

}  // namespace ranklab::experiments
