// The verbs of `ranklab data`, one file each.
#pragma once

#include <memory>

#include "experiments/shared/tool.hpp"

namespace ranklab::experiments {

std::unique_ptr<Verb> make_cosmology_verb();
std::unique_ptr<Verb> make_cifar100_verb();
std::unique_ptr<Verb> make_mnist_verb();
std::unique_ptr<Verb> verify_verb();
std::unique_ptr<Verb> convert_verb();

/// The one value of an option or a positional word that says where to write; OptionError where both are
/// given.
std::string place_of(const options::Options& options, std::size_t word, const std::string& fallback);

}  // namespace ranklab::experiments
