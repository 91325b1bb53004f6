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

void check_combination(const StorageSettings& settings,
                       const std::vector<io::StrategyEntry>& chosen) {
    if (settings.async && std::ranges::none_of(chosen, &io::StrategyEntry::async)) {
        auto able = io::strategies();
        std::erase_if(able, [](const auto& entry) { return !entry.async; });
        throw base::OptionError(
            fmt::format("--async is for {0}; leave it out, or give --strategy {0}",
                        base::join(names_of(able), ",")));
    }
    if (settings.directory.empty())
        throw base::OptionError("--directory is empty; name a folder, or . for this one");
    if (settings.chunk > settings.size)
        throw base::OptionError(fmt::format("--chunk {} is larger than a record's edge, --size {}",
                                            settings.chunk, settings.size));
}

// Parses --hints, "KEY=VALUE,KEY=VALUE".
std::vector<std::pair<std::string, std::string>> hints_of(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> hints;
    if (text.empty()) return hints;
    for (const auto& part : base::split(text, ',')) {
        const auto equals = part.find('=');
        if (equals == std::string::npos || equals == 0)
            throw base::OptionError(fmt::format("hints are KEY=VALUE[,KEY=VALUE], not '{}'", part),
                                    {"hints"});
        hints.emplace_back(base::trim(part.substr(0, equals)), base::trim(part.substr(equals + 1)));
    }
    return hints;
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
    const auto hints = hints_of(settings.hints);
    if (settings.target_ci) static_cast<void>(measure::parse_target(*settings.target_ci));
    if (settings.trace) check_trace_file(*settings.trace);
    StorageCommand command{effective(vocabulary::storage_settings(), settings, settled_common), {}};
    for (const auto& strategy : chosen) {
        StorageSettings own = settings;
        own.strategy = strategy.name;
        if (chosen.size() > 1)
            own.directory = (std::filesystem::path(settings.directory) / strategy.name).string();
        command.strategies.push_back({{own, hints}, settled_common, strategy});
    }
    return command;
}

}  // namespace ranklab::experiments
