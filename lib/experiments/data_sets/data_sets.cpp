#include "experiments/data_sets/data_sets.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "comm/exchange.hpp"

namespace ranklab::experiments {

Tool data_sets_tool() {
    Tool tool{"data",
              "Makes, verifies and converts data sets; all ranks take part, and the bytes do not "
              "depend on the number of ranks.",
              {make_cosmology_verb(), make_cifar100_verb(), make_mnist_verb(), make_tokens_verb(),
               verify_verb(), convert_verb()}};
    for (auto& verb : tool.verbs) {
        verb.makes_runs = false;
        verb.settle = [settle = verb.settle](const auto& given, const auto& common, auto& control) {
            Plan plan;
            comm::all_or_throw(control, [&] { plan = settle(given, common, control); });
            return plan;
        };
    }
    return tool;
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
