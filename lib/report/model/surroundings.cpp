#include "report/model/surroundings.hpp"

#include <algorithm>
#include <string_view>

#include "base/launcher_words.hpp"
#include "base/text.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/facts.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using vocabulary::FactRole;

// Left by mpirun or by MPI's start, which not every run makes; the user did not say it (comm/fabric.cpp).
bool is_left_by_the_start(const std::string& key, const std::string& value) {
    constexpr std::string_view kEnvironment = "environment.";
    return (key.starts_with(kEnvironment) && base::is_launchers_own(key.substr(kEnvironment.size()))) ||
           (key == "environment.OMPI_MCA_pml" && value.starts_with("^cm"));
}

std::string joined(const std::set<std::string>& values) {
    return base::join({values.begin(), values.end()}, " ");
}

}  // namespace

bool is_decisive_fact(const std::string& name, const std::string& value) {
    const FactRole role = vocabulary::role_of_fact(name);
    return (role == FactRole::surroundings || role == FactRole::work) && !is_left_by_the_start(name, value);
}

bool is_noted_fact(const std::string& name) {
    return vocabulary::role_of_fact(name) == FactRole::noted;
}

std::vector<std::string> facts_left_open(const Run& run) {
    const auto has = [&run](std::string_view name) {
        return std::any_of(run.context.begin(), run.context.end(), [name](const results::Fact& fact) {
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
    add("file_system", seen_in_tables(run, "file_system"));
    return conditions;
}

bool same_surroundings(const Run& a, const Run& b) {
    const bool as_many = node_count(a) == node_count(b);
    const auto of = [&](const Run& run) {
        Conditions all = surroundings_of(run);
        std::erase_if(all, [&](const auto& one) {
            return follows_from_ranks(one.first) && !(one.first == "hosts" && as_many);
        });
        return all;
    };
    return of(a) == of(b);
}

void MetConditions::add(const Conditions& conditions) {
    ++all_;
    for (const auto& [key, value] : conditions) {
        values_[key].insert(value);
        having_[key] += 1;
    }
}

std::vector<std::string> MetConditions::differing() const {
    std::vector<std::string> keys;
    for (const auto& [key, values] : values_)
        if (values.size() > 1 || having_.at(key) != all_) keys.push_back(key);
    return keys;
}

bool is_single_device(const Run& run) {
    return run.setting("mode") == "single";
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
