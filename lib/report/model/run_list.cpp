#include "report/model/run_list.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/model/groups.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/messages.hpp"
#include "report/model/selection.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;

constexpr std::size_t kMostNames = 2;  // of a run over several strategies

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

// A column of them is read at a glance: no powers of ten.
std::string digits(double value) {
    return value < 1000 ? number(value) : fixed(value, 0);
}

std::string rate_of(const Run& run) {
    if (!run.valid) return "";
    for (const auto& name : vocabulary::shown_at(vocabulary::Shown::summary, run.command)) {
        const auto* const found = run.find(name);
        if (found != nullptr && found->kind == results::Kind::rate && found->summary.n > 0)
            return fmt::format("{} {}", digits(found->summary.median), found->unit);
    }
    return "";
}

}  // namespace

ListedRun listed(const Run& run) {
    ListedRun one(run);
    one.what = work_of(run) + width_of(run);
    one.cut_short = run.cut_short();
    one.rate = rate_of(run);
    return one;
}

std::vector<ListedRun> list_runs(const results::ResultFile& file,
                                 const std::vector<results::RunHeader>& headers, std::size_t most) {
    std::vector<ListedRun> runs(headers.begin(), headers.end());
    for (std::size_t i = runs.size() - std::min(most, runs.size()); i < runs.size(); ++i) {
        try {
            runs[i] = listed(file.read(runs[i].id, results::Detail::measurements));
        } catch (const base::DataError&) {
            runs[i].what = runs[i].command + ", damaged";
        }
    }
    return runs;
}

}  // namespace ranklab::report::model
