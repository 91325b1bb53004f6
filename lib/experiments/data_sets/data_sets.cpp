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

OutputSettings output_of(const options::Options& given, std::size_t word,
                         const std::string& fallback) {
    auto to = given.fields<OutputSettings>();
    const auto& words = given.positional();
    if (word < words.size()) {
        if (to.output)
            throw base::OptionError(
                fmt::format("the output is given twice: '{}' and --output {}; give one of them",
                            words[word], *to.output));
        to.output = words[word];
    }
    if (!to.output) to.output = fallback;
    return to;
}

}  // namespace ranklab::experiments
