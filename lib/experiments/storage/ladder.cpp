#include "experiments/storage/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "experiments/storage/options.hpp"

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
    const auto* job = run.find("job_time_s");
    return job == nullptr ? 0 : job->columns;
}

double base_time(const std::vector<results::Run>& runs) {
    for (const auto& run : runs)
        if (run.setting("strategy") == kBase) return run.median("job_time_s");
    return runs.empty() ? stats::kNone : runs.front().median("job_time_s");
}

bool has(const std::vector<io::StrategyEntry>& chosen, std::string_view name) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const auto& entry) { return entry.name == name; });
}

// What one rung alone understands is not silently left out where that rung is not among the chosen.
void check_flags(const options::Options& options, const std::vector<io::StrategyEntry>& chosen) {
    if (options.flag("async") && !has(chosen, "process-pool"))
        throw base::OptionError("--async is process-pool's; leave it out, or say --strategy process-pool");
    if (options.flag("dynamic") && !has(chosen, "mpi-send"))
        throw base::OptionError("--dynamic is mpi-send's; leave it out, or say --strategy mpi-send");
}

struct Axis {
    const char* option;
    std::vector<int> values;
};

// The axis that this rung has; one empty value where it has none, or nothing was listed.
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
            if (ranks.size() > 1 && std::string_view(axis.option) != "ranks")
                variant.options.emplace_back("ranks", fmt::format("{}", ranks.back()));
            variants.push_back(std::move(variant));
        }
    }
    if (variants.size() == 1) variants.clear();
    return variants;
}

std::string ladder_line(const results::Run& run) {
    const auto* job = run.find("job_time_s");
    if (job == nullptr) return "";
    std::string who = run.setting("strategy");
    if (who.starts_with("process")) who += fmt::format(" with {} workers", run.setting("workers"));
    return fmt::format("{}: {:.4g} s at {} rank(s), {:.4g} MiB/s, {}", who, job->summary.median,
                       ranks_of(run), run.median("write_MiBps"),
                       run.verified() == "yes" ? "verified" : run.verified());
}

results::Table ladder_table(const std::vector<results::Run>& runs) {
    std::vector<std::string> rung, ceiling, verdict, mark;
    std::vector<std::int64_t> ranks, workers, n;
    std::vector<double> time, low, high, speedup, over, bandwidth, files, percent;
    const double base = base_time(runs);
    for (const auto& run : runs) {
        const auto* job = run.find("job_time_s");
        const auto summary = job == nullptr ? stats::Summary{} : job->summary;
        const bool processes = run.setting("strategy").starts_with("process");
        rung.push_back(run.setting("strategy"));
        ranks.push_back(static_cast<std::int64_t>(ranks_of(run)));
        workers.push_back(processes ? std::atoll(run.setting("workers").c_str()) : 0);
        n.push_back(static_cast<std::int64_t>(summary.n));
        over.push_back(time.empty() ? stats::kNone : time.back() / summary.median);
        time.push_back(summary.median);
        low.push_back(summary.ci95.low);
        high.push_back(summary.ci95.high);
        speedup.push_back(base / summary.median);
        bandwidth.push_back(run.median("write_MiBps"));
        files.push_back(run.median("files_per_s"));
        const Nearest nearest = nearest_ceiling(run);
        ceiling.push_back(nearest.ceiling);
        percent.push_back(nearest.percent);
        verdict.push_back(run.verified());
        mark.push_back(mark_of(run, nearest));
    }
    return {"ladder",
            {{"rung", rung},
             {"ranks", ranks},
             {"workers", workers},
             {"n", n},
             {"job_time_s", time},
             {"low_s", low},
             {"high_s", high},
             {"speedup", speedup},
             {"over_previous", over},
             {"write_MiBps", bandwidth},
             {"files_per_s", files},
             {"ceiling", ceiling},
             {"percent_of_ceiling", percent},
             {"verified", verdict},
             {"mark", mark}}};
}

}  // namespace ranklab::experiments
