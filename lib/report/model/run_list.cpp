#include "report/model/run_list.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/ladder.hpp"
#include "report/model/messages.hpp"
#include "report/model/selection.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;

constexpr std::size_t kMostNames = 1;  // of a run over several strategies

// One of several runs has what they differ in listed: "none, bucketed".
std::string names(const std::string& setting) {
    return setting.empty() ? "" : some_of(base::split(setting, ','), kMostNames, ", ");
}

// "allreduce, broadcast and 7 more, fp32", "buckets of resnet50".
std::string comm_work(const Run& run) {
    if (const std::string model = run.setting("from-model"); !model.empty()) return "buckets of " + model;
    return fmt::format("{}, {}", names(run.setting("op")), names(run.setting("datatype")));
}

std::string work_of(const Run& run) {
    std::string text = run.command;
    if (is_comm(run)) return text + ' ' + comm_work(run);
    for (const char* key : {"model", "strategy", "mode"})
        if (const std::string name = names(run.setting(key)); !name.empty()) text += ' ' + name;
    return text;
}

// Of a summary over several numbers of workers all of them: it has no --workers of its own.
std::string swept_workers(const Run& run) {
    const std::string swept = run.setting("workers").empty() ? run.setting("sweep-workers") : "";
    return swept.find(',') == std::string::npos ? "" : fmt::format(" by {} workers", swept);
}

std::string width_of(const Run& run) {
    if (run.hosts.empty()) return "";
    const std::string swept = swept_workers(run), threads = run.setting("threads");
    const bool of_one_kind = run.setting("strategy").find(',') == std::string::npos;
    if (const auto workers = workers_of(run); workers > 0 && (of_one_kind || swept.empty()))
        return swept.empty() ? " by " + counted(workers, "worker") : swept;
    return fmt::format("{} on {}{}", swept, value_of(run, "ranks"), threads.empty() ? "" : " x " + threads);
}

std::string rate_of(const Run& run) {
    if (is_comm(run) && run.hosts.size() < 2) return "";  // of calls and copies
    for (const auto& name : vocabulary::shown_at(vocabulary::Shown::summary, run.command)) {
        const auto* const found = run.find(name);
        if (found != nullptr && found->kind == results::Kind::rate && found->summary.n > 0)
            return readable(found->summary.median, found->unit);
    }
    return "";
}

}  // namespace

Frame list_runs(const results::ResultFile& file, const std::vector<results::RunHeader>& headers,
                std::size_t most) {
    Frame frame;
    frame.columns = {{.name = "run", .key = true}, {.name = "what"}, {.name = "rate"}, {.name = "label"}};
    for (std::size_t i = headers.size() - std::min(most, headers.size()); i < headers.size(); ++i) {
        const auto& header = headers[i];
        std::string what = header.command + ", damaged", rate;
        std::vector<Doubt> doubts;
        try {
            const Run run = file.read(header.id, results::Detail::measurements);
            what = work_of(run) + width_of(run);
            rate = run.valid ? rate_of(run) : fmt::format("INVALID ({})", run.exit_code);
            if (const auto cut = run.cut_short(); !cut.empty()) doubts.push_back({Mark::cut_short, cut});
        } catch (const base::DataError&) {  // the others are listed
        }
        frame.rows.push_back(
            {{header.id, base::shortened(what, 28), rate, base::shortened(header.label, 40)}, doubts});
    }
    frame.drop_empty_columns();
    return frame;
}

}  // namespace ranklab::report::model
