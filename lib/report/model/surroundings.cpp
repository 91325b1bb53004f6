#include "report/model/surroundings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "base/launcher_words.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/cores.hpp"
#include "report/model/storage_place.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/facts.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using vocabulary::FactRole;

constexpr std::string_view kEnvironment = "environment.";

// Left by mpirun, or by ranklab 0.1.0 before MPI_Init; the user did not say it.
bool is_left_by_the_start(const std::string& key, const std::string& value) {
    return (key.starts_with(kEnvironment) && base::is_launchers_own(key.substr(kEnvironment.size()))) ||
           (key == "environment.OMPI_MCA_pml" && value.starts_with("^cm")) ||
           (key == "environment.OMPI_MCA_plm" && value == "^rsh");
}

std::string joined(const std::set<std::string>& values) {
    return base::join({values.begin(), values.end()}, " ");
}

// "cpu" of "host.cpu".
std::string short_name(const std::string& key) {
    return key.substr(key.find('.') + 1);  // the whole where there is no dot
}

[[noreturn]] void refuse(const std::string& word, const std::set<std::string>& keys) {
    std::vector<std::string> names(keys.begin(), keys.end());
    for (const auto& key : keys) names.push_back(short_name(key));
    throw base::OptionError(
        fmt::format("'{}': these runs have nothing of that name that could differ{}; they have {}",
                    base::printable(word, 60), base::or_did_you_mean(word, names),
                    some_of(keys, 50, ", ", 60)),
        {"allow"});
}

}  // namespace

bool is_decisive_fact(const std::string& name, const std::string& value) {
    const FactRole role = vocabulary::role_of_fact(name);
    return (role == FactRole::surroundings || role == FactRole::work) && !is_left_by_the_start(name, value);
}

std::vector<std::string> facts_left_open(const Run& run) {
    const auto has = [&run](std::string_view name) {
        return std::ranges::any_of(run.context, [name](const results::Fact& fact) {
            return fact.section + "." + fact.key == name && !fact.value.empty();
        });
    };
    std::vector<std::string> open;
    for (const auto& fact : vocabulary::facts())
        if (!fact.since_beside.empty() && has(fact.since_beside) && !has(fact.name))
            open.emplace_back(fact.name);
    if (!run.hosts.empty() && devices_of(run).empty()) open.emplace_back("devices");
    return open;
}

bool follows_from_ranks(const std::string& condition) {
    const auto* fact = vocabulary::find_fact(condition);
    return fact != nullptr && fact->follows_ranks;
}

bool is_between_ranks(const std::string& key) {
    return vocabulary::is_between_ranks(key) || key.starts_with(kEnvironment);
}

Conditions surroundings_of(const Run& run) {
    Conditions conditions;
    const auto add = [&](const std::string& key, const std::string& value) {
        if (!value.empty()) conditions[key] = value;
    };
    for (const auto& [section, key, value] : run.context) {
        const std::string name = section + "." + key;
        if (is_decisive_fact(name, value) && vocabulary::role_of_fact(name) != FactRole::work)
            add(name, value);
    }
    add("version", run.version);
    add("git_revision", run.git_revision);
    add("hosts", hosts_of(run));
    add("devices", devices_of(run));
    add("file_system", file_system_of(run));
    add("cache", cache_kind(run));
    return conditions;
}

Conditions machine_of(const Run& run, bool hosts_count) {
    Conditions all = surroundings_of(run);
    std::erase_if(all, [&](const auto& one) {
        if (one.first == "cache") return true;  // of the files, not of the machine
        return follows_from_ranks(one.first) && !(one.first == "hosts" && hosts_count);
    });
    return all;
}

Conditions files_of(const Run& run) {
    if (run.command != "io") return {};
    Conditions files{{"cache", cache_kind(run)}, {"fsync", fsync_of(run)}};
    std::erase_if(files, [](const auto& one) { return one.second.empty(); });
    return files;
}

bool same_surroundings(const Run& a, const Run& b) {
    const bool as_many = node_count(a) == node_count(b);
    return machine_of(a, as_many) == machine_of(b, as_many);
}

Conditions factors_of(const Run& run) {
    Conditions factors{{"ranks", fmt::to_string(run.hosts.size())}};
    for (const auto& [key, value, number] : run.config)
        if (vocabulary::matters_to(vocabulary::Asker::factor, key, value)) factors[key] = value;
    for (const auto& [section, key, value] : run.context)
        if (const auto name = section + "." + key; is_decisive_fact(name, value)) factors[name] = value;
    for (const auto& [key, value] :
         {std::pair{"file_system", file_system_of(run)}, {"cache", cache_kind(run)}})
        if (!value.empty()) factors[key] = value;
    // The setting is that of rank 0, and of one replica.
    if (const auto threads = threads_text(run); !threads.empty()) factors["threads"] = threads;
    factors["command"] = run.command;
    factors["version"] = fmt::format("{} {}", run.version, run.git_revision);
    return factors;
}

void MetConditions::add(const std::string& key, const std::string& value) {
    const auto [place, is_new] = met_.try_emplace(key);
    if (is_new) order_.push_back(key);
    place->second.values.insert(value);
    place->second.times += 1;
}

bool MetConditions::differs(const std::string& key) const {
    const auto found = met_.find(key);
    return found != met_.end() && (found->second.values.size() > 1 || found->second.times != all_);
}

std::vector<std::string> MetConditions::differing() const {
    std::vector<std::string> keys = order_;
    std::erase_if(keys, [&](const std::string& key) { return !differs(key); });
    return keys;
}

std::string MetConditions::common(const std::string& key) const {
    const auto found = met_.find(key);
    return found == met_.end() || differs(key) ? "" : *found->second.values.begin();
}

bool is_allowed(const std::string& key, const std::vector<std::string>& allow) {
    return std::ranges::any_of(allow, [&](const std::string& word) {
        return vocabulary::fits(key, word) || short_name(key) == word || (word == "host" && key == "hosts");
    });
}

void refuse_unknown_allowed(const std::vector<std::string>& allow, const std::set<std::string>& keys) {
    for (const auto& word : allow) {
        const bool known =
            std::ranges::any_of(keys, [&](const std::string& key) { return is_allowed(key, {word}); });
        if (!known) refuse(word, keys);
    }
}

bool is_single_device(const Run& run) {
    return run.setting("mode") == "single";
}

bool sums_no_gradients(const Run& run, std::size_t ranks) {
    return sums_no_gradients(run, ranks, run.setting("sync"));
}

bool sums_no_gradients(const Run& run, std::size_t ranks, std::string_view sync) {
    return ranks > 1 && run.setting("mode") == "ddp" && sync == "none";
}

std::string device_kind(const std::string& device) {
    return device.substr(0, device.find(" ["));
}

std::string hosts_of(const Run& run) {
    std::set<std::string> hosts;
    for (const auto& row : run.hosts) hosts.insert(row.host);
    return joined(hosts);
}

std::string devices_of(const Run& run) {
    std::set<std::string> devices;
    for (const auto& row : run.hosts) devices.insert(device_kind(row.device));
    // Older programs stored that of whatever they computed on.
    if (run.setting("device") == "cuda" && devices == std::set<std::string>{"cpu"}) return "";
    return joined(devices);
}

std::string seen_in_tables(const Run& run, const char* column_name) {
    std::set<std::string> values;
    for (const auto& table : run.tables) {
        if (const auto* column = table.find<std::string>(column_name))
            values.insert(column->begin(), column->end());
    }
    return joined(values);
}

}  // namespace ranklab::report::model
