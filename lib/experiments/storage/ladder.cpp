#include "experiments/storage/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "experiments/storage/options.hpp"
#include "experiments/storage/place.hpp"
#include "results/rows.hpp"

namespace ranklab::experiments {
namespace {

constexpr const char* kBase = "text-loop";

// What the run's table `ceilings` says of the one that is nearest, bound by it or not.
struct Nearest {
    std::string ceiling = "n/a";
    double percent = stats::kNone;
    std::string mark;
};

Nearest nearest_ceiling(const results::Run& run) {
    const auto* table = run.find_table("ceilings");
    if (table == nullptr) return {};
    const auto* binds = table->find<std::string>("binds");
    const auto* names = table->find<std::string>("ceiling");
    const auto* percents = table->find<double>("percent");
    const auto* marks = table->find<std::string>("mark");
    if (binds == nullptr || names == nullptr || percents == nullptr || marks == nullptr) return {};
    for (std::size_t i = 0; i < binds->size(); ++i) {
        if ((*binds)[i].empty()) continue;
        const bool bound = (*marks)[i].empty();
        return {(*names)[i] + (bound ? "" : " (does not bind)"), (*percents)[i], (*marks)[i]};
    }
    return {};
}

std::string mark_of(const results::Run& run, const Nearest& nearest) {
    std::vector<std::string> marks = run.warnings;
    if (!nearest.mark.empty()) marks.push_back(nearest.mark);
    return base::join(marks, "; ");
}

std::size_t ranks_of(const results::Run& run) {
    const auto* job = run.find(vocabulary::kJobTime);
    return job == nullptr ? 0 : job->columns;
}

double base_time(const std::vector<results::Run>& runs) {
    for (const auto& run : runs)
        if (run.setting("strategy") == kBase) return run.median(vocabulary::kJobTime);
    return runs.empty() ? stats::kNone : runs.front().median(vocabulary::kJobTime);
}

}  // namespace

results::Table ladder_table(const std::vector<results::Run>& runs) {
    results::Rows table("ladder");
    const double base = base_time(runs);
    double before = stats::kNone;
    for (const auto& run : runs) {
        const auto* job = run.find(vocabulary::kJobTime);
        const auto summary = job == nullptr ? stats::Summary{} : job->summary;
        const bool processes = run.setting("strategy").starts_with("process");
        const Nearest nearest = nearest_ceiling(run);
        const PlaceCells place = place_cells(run);
        table.add({run.setting("strategy"),
                   static_cast<std::int64_t>(ranks_of(run)),
                   std::int64_t{processes ? std::atoll(run.setting("workers").c_str()) : 0},
                   static_cast<std::int64_t>(summary.n),
                   summary.median,
                   summary.ci95.low,
                   summary.ci95.high,
                   base / summary.median,
                   before / summary.median,
                   run.median(vocabulary::kWriteRate),
                   run.median(vocabulary::kFileRate),
                   nearest.ceiling,
                   nearest.percent,
                   run.verified(),
                   mark_of(run, nearest),
                   run.median(vocabulary::kReadRate),
                   place.cache,
                   place.fsync,
                   place.file_system,
                   place.directory});
        before = summary.median;
    }
    return std::move(table).table();
}

results::Run compared(const std::vector<results::Run>& runs, std::size_t asked) {
    results::Run all;
    all.tables.push_back(ladder_table(runs));
    all.context = facts_of_ladder(runs);
    std::vector<std::string> texts;
    for (const auto& run : runs)
        for (const auto& warning : run.warnings)
            if (std::ranges::find(texts, warning) == texts.end()) texts.push_back(warning);
    for (const auto& text : texts) {
        const auto has = [&](const auto& run) {
            return std::ranges::find(run.warnings, text) != run.warnings.end();
        };
        all.warnings.push_back(
            fmt::format("{} ({} of {} runs)", text, std::ranges::count_if(runs, has), runs.size()));
    }
    const auto cut = std::ranges::find_if(runs, [](const auto& run) { return !run.cut_short().empty(); });
    if (cut != runs.end()) all.exit_code = cut->exit_code;
    if (runs.size() < asked || cut != runs.end())
        all.warnings.insert(all.warnings.begin(),
                            fmt::format("{} of {} strategies were measured{}", runs.size(), asked,
                                        cut == runs.end() ? "" : ", some of them not whole"));
    return all;
}

}  // namespace ranklab::experiments
