// Command lines and configuration files by grammar: what a program's options are, with values that may be and
// values that may not.
#pragma once

#include <string>
#include <vector>

#include "experiments/shared/experiment.hpp"
#include "fuzz/random.hpp"

namespace ranklab::fuzz {

/// The experiments whose options this program tries.
std::vector<std::unique_ptr<experiments::Experiment>> experiments_here();

options::Schema schema_of(const experiments::Experiment& experiment);
/// Everything that a dry run settles: parses, reads the configuration, resolves on `ranks`, reads each value.
int settle(experiments::Experiment& experiment, const std::vector<std::string>& words, int ranks);

/// An option's value: one that it could have, one at an edge, or anything.
std::string value_of(const options::Option& option, Random& random);
/// "--key", "value"; a flag alone; a short name; joined by '='.
std::vector<std::string> words_of(const options::Option& option, Random& random);
/// One line of a configuration.
std::string line_of(const options::Schema& schema, Random& random);

}  // namespace ranklab::fuzz
