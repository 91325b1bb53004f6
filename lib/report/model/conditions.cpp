#include "report/model/conditions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "report/model/ladder.hpp"
#include "report/model/values.hpp"
#include "vocabulary/facts.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using vocabulary::FactRole;

constexpr std::string_view kEnvironment = "environment.";

// Whether mpirun or ranklab 0.1.0 (before MPI_Init) set the variable, not the user.
bool is_left_by_the_start(const std::string& key, const std::string& value) {
    return (key.starts_with(kEnvironment) &&
            base::is_launchers_own(key.substr(kEnvironment.size()))) ||
           (key == "environment.OMPI_MCA_pml" && value.starts_with("^cm")) ||
           (key == "environment.OMPI_MCA_plm" && value == "^rsh");
}

// "cpu" for "host.cpu".
std::string short_name(const std::string& key) {
    return key.substr(key.find('.') + 1);
}

// Older versions stored the labels of the first read passes only in `io_reads`.
std::string cache_of(const Run& run) {
    if (const std::string fact = run.fact(fact::kCache); !fact.empty()) return fact;
    std::set<std::string> labels;
    for (const auto& row : rows_of(run, "io_reads"))
        if (const auto pass = row.text("pass"); pass.empty() || pass == "read 1")
            labels.insert(row.text("cache"));
    return fmt::format("{}", fmt::join(labels, ", "));
}

void drop_empty(Conditions& conditions) {
    std::erase_if(conditions, [](const auto& one) { return one.second.empty(); });
}

}  // namespace

Conditions decisive_facts(const Run& run) {
    Conditions facts;
    for (const auto& [section, key, value] : run.context) {
        const std::string name = section + "." + key;
        const FactRole role = vocabulary::role_of_fact(name);
        const bool decides = role == FactRole::surroundings || role == FactRole::work;
        if (decides && !value.empty() && !is_left_by_the_start(name, value)) facts[name] = value;
    }
    return facts;
}

bool is_between_ranks(const std::string& key) {
    return vocabulary::setting_row(key).between_ranks || key.starts_with(kEnvironment);
}

Conditions surroundings_of(const Run& run) {
    Conditions conditions{{"version", run.version},
                          {"git_revision", run.git_revision},
                          {"hosts", hosts_of(run)},
                          {"devices", devices_of(run)},
                          {"file_system", file_system_of(run)},
                          {"cache", cache_kind(run)}};
    for (const auto& [name, value] : decisive_facts(run))
        if (vocabulary::role_of_fact(name) != FactRole::work) conditions[name] = value;
    drop_empty(conditions);
    return conditions;
}

Conditions machine_of(const Run& run) {
    Conditions all = surroundings_of(run);
    std::erase_if(all, [](const auto& one) {
        const auto* fact = one.first == "hosts" ? nullptr : vocabulary::find_fact(one.first);
        return one.first == "cache" || (fact != nullptr && fact->follows_ranks);
    });
    return all;
}

Conditions pooling_key_of(const Run& run) {
    Conditions all = machine_of(run);
    if (run.command == "io") all.insert({{"cache", cache_kind(run)}, {"fsync", fsync_of(run)}});
    drop_empty(all);
    return all;
}

Conditions factors_of(const Run& run) {
    Conditions factors{{"ranks", fmt::to_string(run.hosts.size())},
                       {"command", run.command},
                       {"version", base::trim(run.version + " " + run.git_revision)}};
    for (const auto& [key, value, number] : run.config)
        if (vocabulary::matters_to(vocabulary::SettingUse::factor, key, value))
            factors[key] = value;
    factors.merge(decisive_facts(run));
    // --threads is per replica, as on rank 0; threads_text() counts all. In io it counts workers.
    if (const auto threads = threads_text(run); !threads.empty() && run.command != "io")
        factors["threads"] = threads;
    if (const auto system = file_system_of(run); !system.empty()) factors["file_system"] = system;
    if (const auto cache = cache_kind(run); !cache.empty()) factors["cache"] = cache;
    return factors;
}

bool is_single_device(const Run& run) {
    return run.says(fact::kSingleDevice) || (run.says(fact::kUsesSync) && run.hosts.size() == 1);
}

Conditions group_key_of(const Run& run) {
    const bool alone = is_single_device(run);
    Conditions key{
        {"command", run.command},
        {"ranks", is_strategy_run(run) ? fmt::to_string(ranks_of(run)) : value_of(run, "ranks")},
        {"nodes", value_of(run, "nodes")}};
    for (const auto& [name, value, number] : run.config)
        if (vocabulary::matters_to(vocabulary::SettingUse::group, name, value) &&
            (name == setting::kMode || !alone || !vocabulary::setting_row(name).between_ranks))
            key[name] = name == setting::kMode && alone ? "single" : value;
    return key;
}

bool is_ignored(const std::string& key, const std::vector<std::string>& ignore) {
    return std::ranges::any_of(ignore, [&](const std::string& word) {
        return vocabulary::fits(key, word) || short_name(key) == word ||
               (word == "host" && key == "hosts");
    });
}

void refuse_unknown_ignored(const std::vector<std::string>& ignore,
                            const std::set<std::string>& keys) {
    for (const auto& word : ignore) {
        if (std::ranges::any_of(keys,
                                [&](const std::string& key) { return is_ignored(key, {word}); }))
            continue;
        std::vector<std::string> names(keys.begin(), keys.end());
        for (const auto& key : keys) names.push_back(short_name(key));
        throw base::OptionError(
            fmt::format("'{}' is not a condition of these runs{}; conditions: {}",
                        base::printable(word, 60), base::or_did_you_mean(word, names),
                        some_of(keys, 50, ", ", 60)),
            {"ignore"});
    }
}

std::string hosts_of(const Run& run) {
    return fmt::format("{}", fmt::join(host_names(run), " "));
}

std::string devices_of(const Run& run) {
    std::set<std::string> devices;  // without the ids of GPUs
    for (const auto& row : run.hosts) devices.insert(row.device.substr(0, row.device.find(" [")));
    // Older versions stored "cpu" for GPUs, too.
    if (run.setting(setting::kDevice) == "cuda" && devices == std::set<std::string>{"cpu"})
        return "";
    return fmt::format("{}", fmt::join(devices, " "));
}

// Older versions stored the file systems only in tables.
std::string file_system_of(const Run& run) {
    if (const std::string fact = run.fact(fact::kFileSystem); !fact.empty()) return fact;
    std::set<std::string> systems;
    for (const auto& table : run.tables)
        if (const auto* column = table.find<std::string>("file_system"))
            systems.insert(column->begin(), column->end());
    return fmt::format("{}", fmt::join(systems, " "));
}

std::string fsync_of(const Run& run) {
    const std::string fsync = run.setting(setting::kFsync);
    return fsync.empty() ? "" : fsync == "true" ? "yes" : "no";
}

std::string cache_kind(const Run& run) {
    const std::string cache = cache_of(run);
    return cache.find(',') == std::string::npos ? cache.substr(0, cache.find(' ')) : "mixed";
}

std::vector<std::pair<std::string, std::string>> storage_place(const Run& run) {
    const bool writes = run.find(vocabulary::kJobTime) != nullptr,
               reads = run.find(vocabulary::kReadRate) != nullptr ||
                       run.find(vocabulary::kReadTime) != nullptr;
    const auto known = [&](bool applies, const std::string& value) -> std::string {
        if (!applies || run.command != "io") return "";
        return value.empty() ? "unknown" : value;
    };
    const std::string directory = run.fact(fact::kFileDirectory);
    return {{"directory",
             known(true, directory.empty() ? run.setting(setting::kDirectory) : directory)},
            {"file_system", known(true, file_system_of(run))},
            {"fsync", known(writes, fsync_of(run))},
            {"cache", known(reads, cache_of(run))}};
}

}  // namespace ranklab::report::model
