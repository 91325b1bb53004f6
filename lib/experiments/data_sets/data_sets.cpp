#include "experiments/data_sets/data_sets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "data/make/tools.hpp"

namespace ranklab::experiments {
namespace {

std::string table_of(const std::vector<data::FileVerdict>& verdicts) {
    std::size_t width = 4;
    for (const auto& v : verdicts) width = std::max(width, v.file.size());
    std::string text = fmt::format("{:<{}}  {:<7} {:<17} {}\n", "file", width, "result", "kind",
                                   "content; checked");
    for (const auto& v : verdicts) {
        const std::string detail = v.content.empty() || v.checked.empty()
                                       ? v.content + v.checked
                                       : v.content + "; " + v.checked;
        text += fmt::format("{:<{}}  {:<7} {:<17} {}\n", v.file, width,
                            v.wrong.empty() ? "valid" : "INVALID",
                            v.kind.empty() ? "unknown" : v.kind, v.wrong.empty() ? detail : "");
    }
    return text;
}

Runs verify(const std::string& path, const RunContext& around) {
    const auto verdicts = data::verify(around.control, path, around.progress);
    Runs report{.text = table_of(verdicts)};
    std::string wrong;
    std::size_t bad = 0;
    for (const auto& v : verdicts)
        if (!v.wrong.empty() && ++bad == 1) wrong = v.wrong;
    if (bad > 1) wrong += fmt::format(" ({} of {} files are invalid)", bad, verdicts.size());
    try {
        if (bad > 0) comm::throw_on_all<base::DataError>(around.control, 0, wrong);
    } catch (const base::Error&) {
        report.failure = std::current_exception();
    }
    return report;
}

Experiment verify_verb() {
    return {.command = "data verify",
            .usage = "FILE|DIR [options]",
            .summary =
                "Says what a data file is and checks all of it: idx, CIFAR-100 binary, cosmology "
                "HDF5, npy; in a folder, every such file.",
            .examples =
                "  ranklab data verify data/cifar-100-binary\n"
                "  ranklab data verify cosmology-128.h5\n"
                "      form, every value, checksum\n"
                "  mpirun -n 4 ranklab data verify train.h5\n"
                "      the same, read by four ranks\n",
            .options = options::Schema().positional(1, 1),
            .settle = [](const auto& given, const auto& common, auto&) -> Plan {
                const std::string path = given.positional().front();
                return {.settings = given.effective(common),
                        .facts = {{"path", path, false}},
                        .run = [path](const auto& context) { return verify(path, context); }};
            }};
}

}  // namespace

Tool data_sets_tool() {
    Tool tool{"data",
              "Makes, verifies and converts data sets; all ranks take part, and the bytes do not "
              "depend on the number of ranks.",
              make_verbs()};
    tool.verbs.insert(tool.verbs.end(), {verify_verb(), convert_verb()});
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

std::string output_of(const options::Options& given, std::size_t word, const std::string& output,
                      const std::string& fallback) {
    const auto& words = given.positional();
    if (word >= words.size()) return output.empty() ? fallback : output;
    if (output.empty()) return words[word];
    throw base::OptionError(fmt::format(
        "the output is given twice: '{}' and --output {}; give one of them", words[word], output));
}

}  // namespace ranklab::experiments
