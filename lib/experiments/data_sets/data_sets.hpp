// `ranklab data`: makes, verifies and converts data sets, on one or many ranks.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "experiments/shared/tool.hpp"

namespace ranklab::experiments {

class DataSetsTool final : public Tool {
  public:
    std::string command() const override { return "data"; }
    std::string summary() const override {
        return "Makes, verifies and converts data sets; all ranks take part, and the bytes do not "
               "depend on the number of ranks.";
    }
    std::vector<std::unique_ptr<Verb>> verbs() const override;
};

/// The verbs, one file each.
std::unique_ptr<Verb> make_cosmology_verb();
std::unique_ptr<Verb> make_cifar100_verb();
std::unique_ptr<Verb> make_mnist_verb();
std::unique_ptr<Verb> verify_verb();
std::unique_ptr<Verb> convert_verb();

/// Returns where to write: the positional word of that index, --output, or `fallback`. Throws
/// OptionError if both the word and --output are given.
std::string output_of(const options::Options& given, std::size_t word,
                      const std::optional<std::string>& option, const std::string& fallback);

}  // namespace ranklab::experiments
