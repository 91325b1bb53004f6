#include "experiments/data_sets/data_sets.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace ranklab::experiments {

Tool data_sets_tool() {
    return {"data",
            "Makes, verifies and converts data sets; all ranks take part, and the bytes do not "
            "depend on the number of ranks.",
            {make_cosmology_verb(), make_cifar100_verb(), make_mnist_verb(), verify_verb(),
             convert_verb()}};
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
