// `ranklab data`: makes, verifies and converts data sets, on one or many ranks.
#pragma once

#include <memory>

#include "experiments/shared/tool.hpp"

namespace ranklab::experiments {

class DataSetsTool final : public Tool {
  public:
    std::string command() const override { return "data"; }
    std::string summary() const override {
        return "Makes, verifies and converts data sets; all ranks take part, and the bytes do not "
               "depend on how many they are.";
    }
    std::vector<std::unique_ptr<Verb>> verbs() const override;
};

/// The verbs, one file each.
std::unique_ptr<Verb> make_cosmology_verb();
std::unique_ptr<Verb> make_cifar100_verb();
std::unique_ptr<Verb> make_mnist_verb();
std::unique_ptr<Verb> verify_verb();
std::unique_ptr<Verb> convert_verb();

/// The one value of an option or a positional word that says where to write; OptionError where both
/// are given.
std::string place_of(const options::Options& options, std::size_t word,
                     const std::string& fallback);

}  // namespace ranklab::experiments
