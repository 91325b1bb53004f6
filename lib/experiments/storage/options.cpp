#include "experiments/storage/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/text.hpp"
#include "experiments/shared/experiment.hpp"
#include "measure/convergence.hpp"

namespace ranklab::experiments {
namespace {

using vocabulary::StorageSettings;

std::vector<std::pair<std::string, std::string>> hints_of(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> hints;
    if (text.empty()) return hints;
    for (const auto& part : base::split(text, ',')) {
        const auto equals = part.find('=');
        if (equals == std::string::npos || equals == 0)
            throw base::OptionError(
                fmt::format("--hints takes KEY=VALUE[,KEY=VALUE], not '{}'", part));
        hints.emplace_back(base::trim(part.substr(0, equals)), base::trim(part.substr(equals + 1)));
    }
    return hints;
}

io::Job job_of(const StorageSettings& settings) {
    io::Job job;
    job.files = settings.files;
    job.size = settings.size;
    job.directory = settings.directory;
    job.workers = settings.workers;
    job.async = settings.async;
    job.dynamic = settings.dynamic;
    job.chunk_files = settings.chunk_files;
    job.fsync = settings.fsync;
    job.rename = settings.rename;
    job.trace = settings.trace.has_value();
    job.layout = settings.layout == "single" ? io::Layout::single : io::Layout::files;
    job.chunk = settings.chunk;
    job.hdf5 = {.hints = hints_of(settings.hints),
                .alignment = settings.alignment,
                .early_allocation = settings.allocation == "early",
                .fill = settings.fill,
                .collective_metadata = settings.collective_metadata == "on",
                .latest_format = settings.latest_format};
    return job;
}

// Throws OptionError if none of the chosen strategies has the option.
void need_one_with(const char* option, bool io::StrategyEntry::*has,
                   const std::vector<io::StrategyEntry>& chosen) {
    if (std::ranges::any_of(chosen, has)) return;
    std::vector<std::string> able;
    for (const auto& entry : io::strategies())
        if (entry.*has) able.push_back(entry.name);
    const auto names = base::join(able, ",");
    throw base::OptionError(
        fmt::format("--{0} is for {1}; leave it out, or give --strategy {1}", option, names));
}

void check_combination(const StorageSettings& settings,
                       const std::vector<io::StrategyEntry>& chosen) {
    if (settings.async) need_one_with("async", &io::StrategyEntry::async, chosen);
    if (settings.dynamic) need_one_with("dynamic", &io::StrategyEntry::dynamic, chosen);
    if (settings.directory.empty())
        throw base::OptionError("--directory is empty; name a folder, or . for this one");
    if (settings.chunk > settings.size)
        throw base::OptionError(fmt::format("--chunk {} is larger than a record's edge, --size {}",
                                            settings.chunk, settings.size));
}

StorageOptions settle_one(const StorageSettings& settings, const vocabulary::CommonSettings& common,
                          const io::StrategyEntry& strategy) {
    StorageOptions result;
    static_cast<StorageSettings&>(result) = settings;
    result.common = common;
    result.config = settings_of(effective(vocabulary::storage_settings(), settings, common));
    result.entry = strategy;
    result.job = job_of(settings);
    return result;
}

}  // namespace

std::vector<io::StrategyEntry> chosen_strategies(const std::string& given) {
    const auto all = io::strategies();
    std::vector<io::StrategyEntry> chosen;
    for (const auto i : chosen_of(given, "strategy", names_of(all))) chosen.push_back(all[i]);
    return chosen;
}

StorageCommand settle_storage(const options::Options& given,
                              const vocabulary::CommonSettings& common) {
    auto settings = given.fields<StorageSettings>();
    auto settled_common = common;
    vocabulary::settle(settled_common.warmup, 0);
    const auto chosen = chosen_strategies(settings.strategy);
    if (settings.ceilings == "auto")
        settings.ceilings = settings.repetitions > 1 || chosen.size() > 1 ? "on" : "off";
    given.check_relations(settings, settled_common);
    check_combination(settings, chosen);
    if (settings.target_ci) static_cast<void>(measure::parse_target(*settings.target_ci));
    if (settings.trace) check_trace_file(*settings.trace);
    StorageCommand command{effective(vocabulary::storage_settings(), settings, settled_common), {}};
    for (const auto& strategy : chosen) {
        StorageSettings own = settings;
        own.strategy = strategy.name;
        if (chosen.size() > 1)
            own.directory = (std::filesystem::path(settings.directory) / strategy.name).string();
        command.strategies.push_back(settle_one(own, settled_common, strategy));
    }
    return command;
}

}  // namespace ranklab::experiments
