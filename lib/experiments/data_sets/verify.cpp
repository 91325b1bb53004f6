#include <fmt/format.h>

#include <algorithm>

#include "data/formats/verify.hpp"
#include "experiments/data_sets/data_sets.hpp"

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

ToolReport verify(const std::string& path, const RunContext& around) {
    const auto verdicts = data::verify(around.control, path, around.progress);
    ToolReport report{table_of(verdicts), ""};
    std::size_t bad = 0;
    for (const auto& v : verdicts)
        if (!v.wrong.empty() && ++bad == 1) report.wrong = v.wrong;
    if (bad > 1) report.wrong += fmt::format(" ({} of {} files are invalid)", bad, verdicts.size());
    return report;
}

}  // namespace

Verb verify_verb() {
    return {.words = "verify",
            .usage = "FILE|DIR [options]",
            .summary =
                "Says what a data file is and checks all of it: idx, CIFAR-100 binary, cosmology "
                "HDF5, npy; in a folder, every such file.",
            .examples =
                "  ranklab data verify data/cifar-100-binary\n"
                "  ranklab data verify cosmology-128.h5                        form, every value, "
                "checksum\n"
                "  mpirun -n 4 ranklab data verify train.h5                    the same, read by "
                "four ranks\n",
            .options = options::Schema().positional(1, 1),
            .settle = [](const options::Options& given) -> ToolPlan {
                const std::string path = given.positional().front();
                return {{}, {{"path", path, false}}, [path](const ToolPlace& place) {
                            return verify(path, place.context);
                        }};
            }};
}

}  // namespace ranklab::experiments
