#include "experiments/storage/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/text.hpp"
#include "experiments/shared/target_ci.hpp"

namespace ranklab::experiments {
namespace {

using options::Options;

std::vector<std::pair<std::string, std::string>> hints_of(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> hints;
    if (text.empty()) return hints;
    for (const auto& part : base::split(text, ',')) {
        const auto equals = part.find('=');
        if (equals == std::string::npos || equals == 0)
            throw base::OptionError(fmt::format("--hints takes KEY=VALUE[,KEY=VALUE], not '{}'", part));
        hints.emplace_back(base::trim(part.substr(0, equals)), base::trim(part.substr(equals + 1)));
    }
    return hints;
}

// Once ranks, warm-up and ceilings are settled.
void check_combination(const Options& options) {
    options.check_relations();
    if (options.text("directory").empty())
        throw base::OptionError("--directory is empty; name a folder, or . for this one");
    if (options.integer("chunk") > options.integer("size"))
        throw base::OptionError(fmt::format("--chunk {} is larger than a record's edge, --size {}",
                                            options.integer("chunk"), options.integer("size")));
}

io::Job job_of(const Options& options) {
    io::Job job;
    job.files = options.integer("files");
    job.size = options.integer("size");
    job.directory = options.text("directory");
    job.workers = static_cast<int>(options.integer("workers"));
    job.async = options.flag("async");
    job.dynamic = options.flag("dynamic");
    job.chunk_files = options.integer("chunk-files");
    job.fsync = options.flag("fsync");
    job.rename = options.flag("rename");
    job.hdf5 = {.layout = options.is("layout", "single") ? io::Layout::single : io::Layout::files,
                .chunk = options.integer("chunk"),
                .alignment = options.bytes("alignment"),
                .hints = hints_of(options.text("hints")),
                .early_allocation = options.is("allocation", "early"),
                .fill = options.flag("fill"),
                .collective_metadata = options.is("collective-metadata", "on"),
                .latest_format = options.flag("latest-format")};
    return job;
}

}  // namespace

std::vector<io::StrategyEntry> chosen_strategies(const Options& options) {
    const auto all = io::strategies();
    std::vector<std::string> names{"all"};
    for (const auto& entry : all) names.push_back(entry.name);
    const auto asked = base::split(options.text("strategy"), ',');
    for (const auto& word : asked) {
        if (std::find(names.begin(), names.end(), word) != names.end()) continue;
        throw base::OptionError(fmt::format("there is no --strategy '{}'; give {}{}",
                                            base::printable(word, 60), base::join(names, ", "),
                                            base::or_did_you_mean(word, names)));
    }
    if (std::ranges::find(asked, "all") != asked.end()) return all;
    std::vector<io::StrategyEntry> chosen;
    for (const auto& entry : all) {
        if (std::find(asked.begin(), asked.end(), entry.name) != asked.end()) chosen.push_back(entry);
    }
    return chosen;
}

namespace {

// An option of one strategy alone is refused where that strategy is not among the chosen.
void check_flags(const Options& options, const std::vector<io::StrategyEntry>& chosen) {
    const auto needs = [&](const char* flag, const char* strategy) {
        const bool has =
            std::ranges::any_of(chosen, [&](const auto& entry) { return entry.name == strategy; });
        if (options.flag(flag) && !has)
            throw base::OptionError(
                fmt::format("--{0} is for {1}; leave it out, or give --strategy {1}", flag, strategy));
    };
    needs("async", "process-pool");
    needs("dynamic", "mpi-send");
}

StorageOptions settle_one(const Options& options, const io::StrategyEntry& strategy) {
    StorageOptions result(options);
    result.strategy = strategy;
    result.job = job_of(options);
    result.most_repetitions = most_samples(options, result.repetitions());
    result.convergence = convergence_of(options, result.repetitions());
    result.write = !options.flag("read-only");
    result.read = !options.flag("write-only");
    result.verify = result.read && !options.flag("no-verify");
    result.keep = options.flag("keep") || !result.write;
    result.ceilings = result.write && options.is("ceilings", "on");
    return result;
}

}  // namespace

std::vector<StorageOptions> settle_storage(Options& options) {
    options.resolve_default("warmup", "0");
    const auto chosen = chosen_strategies(options);
    check_flags(options, chosen);
    if (options.is("ceilings", "auto"))
        options.choose("ceilings", options.integer("repetitions") > 1 || chosen.size() > 1 ? "on" : "off");
    check_combination(options);
    std::vector<StorageOptions> settled;
    for (const auto& strategy : chosen) {
        Options own = options;
        own.choose("strategy", strategy.name);
        if (chosen.size() > 1)
            own.choose("directory",
                       (std::filesystem::path(options.text("directory")) / strategy.name).string());
        settled.push_back(settle_one(own, strategy));
    }
    return settled;
}

}  // namespace ranklab::experiments
