#include "report/compare/compare_conditions.hpp"

#include <fmt/format.h>

#include <set>

#include "base/text.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::compare {
namespace {

using results::Run;

// An option that nobody set: a program that did not have it yet did the same.
bool is_unset(const std::string& value) {
    return value.empty() || value == "false" || value == "nan";
}

// `ranklab io` has a setting `ranks`: those that a rung used, of the world's.
void add_places(const Run& run, model::Conditions& conditions) {
    const bool asked = conditions.count("ranks") != 0;
    conditions[asked ? "world_size" : "ranks"] = fmt::format("{}", run.hosts.size());
    conditions["nodes"] = fmt::format("{}", model::node_count(run));
    conditions["hosts"] = model::hosts_of(run);
    if (const auto devices = model::devices_of(run); !devices.empty()) conditions["devices"] = devices;
}

std::string cpusets(const Run& run) {
    std::set<std::string> sets;
    for (const auto& row : run.hosts) sets.insert(row.cpus);
    return base::join({sets.begin(), sets.end()}, " ");
}

}  // namespace

model::Conditions decisive_conditions(const Run& run) {
    model::Conditions conditions{{"command", run.command}};
    for (const auto& [key, value, number] : run.config) {
        if (!vocabulary::matters_to(vocabulary::Asker::comparison, key, value) || is_unset(value)) continue;
        conditions[key] = vocabulary::counts_by_being_set(key) ? "set" : value;
    }
    for (const auto& [section, key, value] : run.context) {
        const std::string name = section + "." + key;
        if (model::is_decisive_fact(name, value) && !value.empty()) conditions[name] = value;
    }
    add_places(run, conditions);
    const std::string file_system = model::seen_in_tables(run, "file_system");
    if (!file_system.empty()) conditions["file_system"] = file_system;
    return conditions;
}

model::Conditions noted_conditions(const Run& run) {
    model::Conditions conditions{{"cpus", cpusets(run)}};
    const std::string cache = model::seen_in_tables(run, "cache");
    if (!cache.empty()) conditions["cache"] = cache;
    for (const auto& [section, key, value] : run.context) {
        const std::string name = section + "." + key;
        if (model::is_noted_fact(name)) conditions[name] = value;
    }
    return conditions;
}

std::string process_of(const Run& run) {
    for (const auto& fact : run.context)
        if (fact.section == "process" && fact.key == "instance" && !fact.value.empty()) return fact.value;
    return run.id;
}

}  // namespace ranklab::report::compare
