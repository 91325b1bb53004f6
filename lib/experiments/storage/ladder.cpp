// The comparison of several strategies: a run with the table `ladder`.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/text.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/storage/record.hpp"
#include "results/run.hpp"
#include "vocabulary/facts.hpp"
#include "vocabulary/names.hpp"

namespace ranklab::experiments {

namespace {

namespace fact = vocabulary::fact;

// Returns the baseline strategy's run, or the first run if the baseline was not measured.
const results::Run& baseline_of(const std::vector<results::Run>& runs) {
    const auto found =
        std::ranges::find_if(runs, [](const auto& run) { return run.says(fact::kIsBaseline); });
    return found == runs.end() ? runs.front() : *found;
}

// The limit in the run's table `ceilings`, and why other ceilings are no limits.
struct Nearest {
    std::string ceiling = "n/a";
    double percent = stats::kNone;
    std::vector<std::string> marks = {};
};

Nearest nearest_ceiling(const results::Run& run) {
    Nearest found;
    for (const auto& row : rows_of(run, "ceilings")) {
        if (vocabulary::word_in(row.text("binds")) == vocabulary::FactWord::yes) {
            found.ceiling = row.text("ceiling");
            found.percent = row.number("percent");
        } else if (const auto mark = row.text("mark"); !mark.empty()) {
            found.marks.push_back(mark);
        }
    }
    return found;
}

// Returns each warning once, with its strategy or the number of runs that have the warning.
std::vector<std::string> shared_warnings(const std::vector<results::Run>& runs) {
    struct Warning {
        std::string text, strategy;  // strategy: of the first run
        int count = 0;
    };
    std::vector<Warning> all;
    for (const auto& run : runs) {
        for (const auto& text : run.warnings) {
            auto known = std::ranges::find(all, text, &Warning::text);
            if (known == all.end()) known = all.insert(known, {text, run.setting("strategy")});
            ++known->count;
        }
    }
    std::vector<std::string> warnings;
    for (const auto& [text, strategy, count] : all)
        warnings.push_back(count == 1
                               ? fmt::format("{}: {}", strategy, text)
                               : fmt::format("{} ({} of {} runs)", text, count, runs.size()));
    return warnings;
}

// One row per run. Speedups are over baseline_of().
results::Table ladder_table(const std::vector<results::Run>& runs) {
    results::Rows table("ladder");
    const double base = baseline_of(runs).median(vocabulary::kJobTime);
    double before = stats::kNone;
    for (const auto& run : runs) {
        const auto* job = run.find(vocabulary::kJobTime);
        const auto summary = job == nullptr ? stats::Summary{} : job->summary;
        const Nearest nearest = nearest_ceiling(run);
        auto marks = run.warnings;
        marks.insert(marks.end(), nearest.marks.begin(), nearest.marks.end());
        const bool reads = run.find(vocabulary::kReadRate) != nullptr;
        const std::string fsync = run.setting("fsync") == "true" ? "yes" : "no";
        table.add({run.setting("strategy"),
                   std::int64_t{std::atoll(run.fact("storage", "participants").c_str())},
                   std::int64_t{std::atoll(run.fact(fact::kWorkerProcesses).c_str())},
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
                   run.verified_text(),
                   base::join(marks, "; "),
                   run.median(vocabulary::kReadRate),
                   reads ? run.fact("storage", "cache") : "",
                   job == nullptr ? "" : fsync,
                   run.fact("storage", "file_system"),
                   run.fact("storage", "directory"),
                   run.median("file_bytes")});
        before = summary.median;
    }
    return std::move(table).table();
}

}  // namespace

results::Run compared(const std::vector<results::Run>& runs, std::size_t asked, int signal) {
    results::Run all;
    all.tables.push_back(ladder_table(runs));
    std::set<std::string> systems;
    for (const auto& run : runs) systems.insert(run.fact("storage", "file_system"));
    all.context = {{"ladder", "baseline", baseline_of(runs).setting("strategy")},
                   {"storage", "file_system", base::join({systems.begin(), systems.end()}, " ")}};
    all.warnings = shared_warnings(runs);
    const auto is_cut = [](const auto& run) { return !run.cut_short().empty(); };
    const auto cut = std::ranges::count_if(runs, is_cut);
    const auto how_far = fmt::format("{} of {} strategies were measured, {} of them incompletely",
                                     runs.size(), asked, cut);
    mark_stopped(all, signal, "after " + how_far);
    if (signal != 0 || (runs.size() == asked && cut == 0)) return all;
    all.mark_incomplete(how_far);
    if (cut > 0) all.exit_code = std::ranges::find_if(runs, is_cut)->exit_code;
    return all;
}

}  // namespace ranklab::experiments
