#include "experiments/storage/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/text.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/storage/options.hpp"
#include "results/rows.hpp"

namespace ranklab::experiments {

namespace {

std::string cell(const std::string& value) {
    return value.empty() ? "unknown" : value;
}

std::string strategies_left(const std::vector<results::Run>& runs) {
    std::vector<std::string> left;
    for (const auto& entry : io::strategies())
        if (std::ranges::none_of(runs,
                                 [&](const auto& run) { return run.setting("strategy") == entry.name; }))
            left.push_back(entry.name);
    return base::join(left, ", ");
}

// Facts of a comparison: where all its files lay, and which strategies are none of its.
std::vector<results::Fact> facts_of_ladder(const std::vector<results::Run>& runs) {
    std::vector<results::Fact> facts{{"ladder", "strategies_left", strategies_left(runs)}};
    std::set<std::string> found;
    for (const auto& run : runs) found.insert(run.fact("storage", "file_system"));
    found.erase("");
    if (!found.empty())
        facts.push_back({"storage", "file_system", base::join({found.begin(), found.end()}, " ")});
    return facts;
}

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

double base_time(const std::vector<results::Run>& runs) {
    for (const auto& run : runs)
        if (run.setting("strategy") == kBase) return run.median(vocabulary::kJobTime);
    return runs.empty() ? stats::kNone : runs.front().median(vocabulary::kJobTime);
}

// Each sentence once, with how many runs have it.
std::vector<std::string> shared_warnings(const std::vector<results::Run>& runs) {
    std::vector<std::pair<std::string, int>> counted;
    std::map<std::string, std::string> one_of;  // a strategy that has it
    for (const auto& run : runs) {
        for (const auto& warning : run.warnings) {
            const auto known = std::ranges::find(counted, warning, &std::pair<std::string, int>::first);
            one_of.emplace(warning, run.setting("strategy"));
            if (known == counted.end())
                counted.emplace_back(warning, 1);
            else
                ++known->second;
        }
    }
    std::vector<std::string> warnings;
    for (const auto& [text, count] : counted)
        warnings.push_back(count == 1 ? fmt::format("{}: {}", one_of[text], text)
                                      : fmt::format("{} ({} of {} runs)", text, count, runs.size()));
    return warnings;
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
        const bool reads = run.find(vocabulary::kReadRate) != nullptr;
        const std::string fsync = run.setting("fsync") == "true" ? "yes" : "no";
        table.add({run.setting("strategy"),
                   std::int64_t{std::atoll(run.fact("storage", "participants").c_str())},
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
                   reads ? cell(run.fact("storage", "cache")) : "",
                   job == nullptr ? "" : fsync,
                   cell(run.fact("storage", "file_system")),
                   cell(run.fact("storage", "directory")),
                   run.median("file_bytes")});
        before = summary.median;
    }
    return std::move(table).table();
}

results::Run compared(const std::vector<results::Run>& runs, std::size_t asked, int signal) {
    results::Run all;
    all.tables.push_back(ladder_table(runs));
    all.context = facts_of_ladder(runs);
    all.warnings = shared_warnings(runs);
    const auto is_cut = [](const auto& run) { return !run.cut_short().empty(); };
    const auto cut = std::ranges::count_if(runs, is_cut);
    const auto how_far =
        fmt::format("{} of {} strategies were measured, {} of them not whole", runs.size(), asked, cut);
    mark_stopped(all, signal, "after " + how_far);
    if (signal != 0 || (runs.size() == asked && cut == 0)) return all;
    all.warnings.insert(all.warnings.begin(), fmt::format("{}{}", results::kNotComplete, how_far));
    if (cut > 0) all.exit_code = std::ranges::find_if(runs, is_cut)->exit_code;
    return all;
}

}  // namespace ranklab::experiments
