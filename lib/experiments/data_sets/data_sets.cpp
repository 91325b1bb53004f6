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

std::string place_of(const options::Options& options, std::size_t word,
                     const std::string& fallback) {
    const bool as_word = options.positional().size() > word;
    if (as_word && options.is_set("output"))
        throw base::OptionError(
            fmt::format("the output is given twice: '{}' and --output {}; give one of them",
                        options.positional()[word], options.text("output")));
    if (as_word) return options.positional()[word];
    return options.is_set("output") ? options.text("output") : fallback;
}

}  // namespace ranklab::experiments
