#include "experiments/storage/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "base/file_system.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/storage/options.hpp"
#include "results/rows.hpp"

namespace ranklab::experiments {

namespace {

constexpr const char* kSection = "storage";
constexpr const char* kDirectory = "directory";
constexpr const char* kFileSystem = "file_system";

std::string joined(const std::set<std::string>& values) {
    return base::join({values.begin(), values.end()}, " ");
}

std::string cell(const std::string& value) {
    return value.empty() ? "unknown" : value;
}

std::string strategies_left(const std::vector<results::Run>& runs) {
    std::vector<std::string> left;
    for (const auto& entry : io::strategies()) {
        const bool tried = std::ranges::any_of(
            runs, [&](const results::Run& run) { return run.setting("strategy") == entry.name; });
        if (!tried) left.push_back(entry.name);
    }
    return base::join(left, ", ");
}

}  // namespace

void add_place(results::Run& run, const StorageOptions& options, comm::Communicator& control) {
    std::error_code unknown;
    const auto folder = std::filesystem::absolute(options.job.directory, unknown).lexically_normal();
    const auto found = comm::gather_texts(control, base::file_system_at(options.job.directory).name);
    run.context.push_back({kSection, kDirectory, folder.string()});
    run.context.push_back({kSection, kFileSystem, joined({found.begin(), found.end()})});
}

PlaceCells place_cells(const results::Run& run) {
    const bool reads = run.find(vocabulary::kReadRate) != nullptr;
    const bool writes = run.find(vocabulary::kJobTime) != nullptr;
    return {reads ? cell(run.fact(kSection, "cache")) : "",
            !writes                          ? ""
            : run.setting("fsync") == "true" ? "yes"
                                             : "no",
            cell(run.fact(kSection, kFileSystem)), cell(run.fact(kSection, kDirectory))};
}

std::vector<results::Fact> facts_of_ladder(const std::vector<results::Run>& runs) {
    std::vector<results::Fact> facts{{"ladder", "strategies_left", strategies_left(runs)}};
    std::set<std::string> found;
    for (const auto& run : runs) found.insert(run.fact(kSection, kFileSystem));
    found.erase("");
    if (!found.empty()) facts.push_back({kSection, kFileSystem, joined(found)});
    return facts;
}

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

double base_time(const std::vector<results::Run>& runs) {
    for (const auto& run : runs)
        if (run.setting("strategy") == kBase) return run.median(vocabulary::kJobTime);
    return runs.empty() ? stats::kNone : runs.front().median(vocabulary::kJobTime);
}

// Each sentence once, with how many runs have it.
std::vector<std::string> shared_warnings(const std::vector<results::Run>& runs) {
    std::vector<std::pair<std::string, int>> counted;
    for (const auto& run : runs) {
        for (const auto& warning : run.warnings) {
            const auto known = std::ranges::find(counted, warning, &std::pair<std::string, int>::first);
            if (known == counted.end())
                counted.emplace_back(warning, 1);
            else
                ++known->second;
        }
    }
    std::vector<std::string> warnings;
    for (const auto& [text, count] : counted)
        warnings.push_back(fmt::format("{} ({} of {} runs)", text, count, runs.size()));
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
        const PlaceCells place = place_cells(run);
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
                   place.cache,
                   place.fsync,
                   place.file_system,
                   place.directory});
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
