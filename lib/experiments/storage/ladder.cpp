#include "experiments/storage/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>

#include "base/error.hpp"
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

bool has(const std::vector<io::StrategyEntry>& chosen, std::string_view name) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const auto& entry) { return entry.name == name; });
}

// What one strategy alone understands is not silently left out where that strategy is not among the chosen.
void check_flags(const options::Options& options, const std::vector<io::StrategyEntry>& chosen) {
    if (options.flag("async") && !has(chosen, "process-pool"))
        throw base::OptionError("--async is for process-pool; leave it out, or give --strategy process-pool");
    if (options.flag("dynamic") && !has(chosen, "mpi-send"))
        throw base::OptionError("--dynamic is for mpi-send; leave it out, or give --strategy mpi-send");
}

struct Axis {
    const char* option;
    std::vector<int> values;
};

// The axis that this strategy has; one empty value where it has none, or nothing was listed.
Axis axis_of(const io::StrategyEntry& entry, const std::vector<int>& ranks, const std::vector<int>& workers) {
    if (entry.parallel && ranks.size() > 1) return {"ranks", ranks};
    if (entry.processes && !workers.empty()) return {"workers", workers};
    return {"", {0}};
}

}  // namespace

std::vector<Variant> ladder_variants(const options::Options& options) {
    const auto chosen = chosen_strategies(options);
    check_flags(options, chosen);
    const auto ranks = number_list(options, "ranks", std::numeric_limits<int>::max());
    const auto workers = number_list(options, "sweep-workers", 1 << 16);
    if (!workers.empty() &&
        std::none_of(chosen.begin(), chosen.end(), [](const auto& e) { return e.processes; }))
        throw base::OptionError("--sweep-workers is for process-pool and process-queue; name one of them");
    std::vector<Variant> variants;
    for (const auto& entry : chosen) {
        const Axis axis = axis_of(entry, ranks, workers);
        for (const int value : axis.values) {
            Variant variant{{{"strategy", entry.name}}};
            if (chosen.size() > 1)
                variant.options.emplace_back(
                    "directory", (std::filesystem::path(options.text("directory")) / entry.name).string());
            if (chosen.size() > 1 && options.text("ceilings") == "auto")
                variant.options.emplace_back("ceilings", "on");
            if (value > 0) variant.options.emplace_back(axis.option, fmt::format("{}", value));
            variants.push_back(std::move(variant));
        }
    }
    if (variants.size() == 1) variants.clear();
    return variants;
}

std::string ladder_line(const results::Run& run) {
    const auto* job = run.find(vocabulary::kJobTime);
    if (job == nullptr) return "";
    std::string who = run.setting("strategy");
    if (who.starts_with("process")) who += fmt::format(" with {} workers", run.setting("workers"));
    const auto* read = run.find(vocabulary::kReadRate);
    const std::string reading = read == nullptr ? ""
                                                : fmt::format(", read {:.4g} MiB/s ({})",
                                                              read->summary.median, place_cells(run).cache);
    return fmt::format("{}: {:.4g} s at {} rank(s), {:.4g} MiB/s{}, {}", who, job->summary.median,
                       ranks_of(run), run.median(vocabulary::kWriteRate), reading,
                       run.verified() == "yes" ? "verified" : run.verified());
}

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

}  // namespace ranklab::experiments
