#include "experiments/data_sets/data_sets.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace ranklab::experiments {

std::vector<std::unique_ptr<Verb>> DataSetsTool::verbs() const {
    std::vector<std::unique_ptr<Verb>> verbs;
    verbs.push_back(make_cosmology_verb());
    verbs.push_back(make_cifar100_verb());
    verbs.push_back(make_mnist_verb());
    verbs.push_back(verify_verb());
    verbs.push_back(convert_verb());
    return verbs;
}

std::string output_of(const options::Options& given, std::size_t word,
                      const std::optional<std::string>& option, const std::string& fallback) {
    const auto& words = given.positional();
    if (word >= words.size()) return option.value_or(fallback);
    if (option)
        throw base::OptionError(
            fmt::format("the output is given twice: '{}' and --output {}; give one of them",
                        words[word], *option));
    return words[word];
}

}  // namespace ranklab::experiments
