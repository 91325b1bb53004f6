#include <fmt/format.h>

#include "base/text.hpp"
#include "data/make/tools.hpp"
#include "experiments/data_sets/data_sets.hpp"

namespace ranklab::experiments {
namespace {

Runs make(const std::string& file, const data::TokenFileSpec& spec, bool force,
          const RunContext& around) {
    data::make_tokens(around.control, file, spec, force, around.progress);
    return {.text = fmt::format("{}\nNext: ranklab train --model llama-debug --data tokens "
                                "--inputs {}; the loss cannot fall below {:.3f}\n",
                                file, base::shell_path(file), data::kTokenEntropy)};
}

}  // namespace

Experiment make_tokens_verb() {
    using S = data::TokenFileSpec;
    return {.command = "data make tokens",
            .usage = "[FILE.bin] [options]",
            .summary =
                "Writes a synthetic text of 64 symbols as tokens, in llm.c's format. Each token "
                "depends on the two before it and has 1.213 nats of entropy.",
            .examples =
                "  ranklab data make tokens                                    tokens.bin\n"
                "  mpirun -n 2 ranklab data make tokens text.bin --length 100000000\n",
            .options = options::Schema()
                           .positional(1)
                           .section("Text")
                           .text("output", &OutputSettings::output, "FILE",
                                 "the file, also as argument FILE.bin (default: tokens.bin)")
                           .integer("length", &S::tokens, {1, (std::int64_t{1} << 31) - 1},
                                    "number of tokens")
                           .integer("seed", &S::seed, {0, options::kWholeNumbers},
                                    "seed of the text and of which tokens follow which")
                           .flag("force", &OutputSettings::force, "replace what is there already")
                           .fallback("length", "4000000"),
            .settle = [](const auto& given, const auto& common, auto&) -> Plan {
                const auto spec = given.template fields<data::TokenFileSpec>();
                auto to = given.template fields<OutputSettings>();
                const std::string file = output_of(given, 0, to.output, "tokens.bin");
                to.output = file;
                return {.settings = given.effective(to, spec, common),
                        .facts = {{"bytes", fmt::to_string(data::token_file_bytes(spec)), true}},
                        .run = [=](const auto& context) {
                            return make(file, spec, to.force, context);
                        }};
            }};
}

}  // namespace ranklab::experiments
