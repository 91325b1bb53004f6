#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/compare/parts.hpp"
#include "report/model/selection.hpp"
#include "report/model/storage_place.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/facts.hpp"
#include "results/vocabulary/measurements.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::compare {
namespace {

using results::Kind;
using results::Measurement;
using results::Run;

using Names = std::vector<std::string>;

// A run of which nothing could be verified is no evidence; one that never had a table of checks (made by
// another program) is taken at its word.
bool nothing_verified(const Run& run) {
    const results::Table* table = run.find_table("verification");
    const auto* checks = table == nullptr ? nullptr : table->find<std::string>("result");
    if (checks == nullptr || checks->empty()) return false;
    return std::ranges::all_of(*checks, [](const std::string& result) {
        return result == "not verified" || result == "does not apply";
    });
}

bool has_value(const Run& run, const std::string& measurement) {
    return std::isfinite(model::final_value(run, measurement));
}

// An option that nobody set: a program that did not have it yet did the same.
bool is_unset(const std::string& value) {
    return value.empty() || value == "false" || value == "nan";
}

// The setting `ranks` of `ranklab io`: those that a rung used, of the world's. A training's hosts are those
// of the ranks that trained.
void add_places(const Run& run, model::Conditions& conditions) {
    const bool some = run.command == "io" && conditions.count("ranks") != 0;
    conditions[some ? "world_size" : "ranks"] = fmt::format("{}", run.hosts.size());
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
    const std::string file_system = model::file_system_of(run);
    if (!file_system.empty()) conditions["file_system"] = file_system;
    if (model::cache_kind(run) == "cold") conditions["cache"] = "cold";  // beside no other
    return conditions;
}

model::Conditions noted_conditions(const Run& run) {
    model::Conditions conditions{{"cpus", cpusets(run)}};
    const std::string cache = model::cache_kind(run);
    if (!cache.empty() && cache != "cold") conditions["cache"] = cache;
    for (const auto& [section, key, value] : run.context) {
        const std::string name = section + "." + key;
        if (vocabulary::role_of_fact(name) == vocabulary::FactRole::noted) conditions[name] = value;
    }
    return conditions;
}

std::string process_of(const Run& run) {
    const std::string instance = model::value_of(run, "process.instance");
    return instance.empty() ? run.id : instance;
}

std::string reason_to_leave_out(const Run& run, bool with_unverified) {
    const auto code = static_cast<base::ExitCode>(run.exit_code);
    // Before `valid`: a run that did not converge may be marked as one whose numbers are not to be used.
    if (code == base::ExitCode::invalid_measurement) return "not converged or cache-tainted";
    if (!run.valid) return "invalid";
    if (run.verified() == "NO") return "verification failed";
    if (code == base::ExitCode::time_limit) return "ended by the time limit";
    // A run below a threshold is a result like any other: without it a regression would hide itself.
    if (run.exit_code != 0 && code != base::ExitCode::below_threshold)
        return fmt::format("exit code {}", run.exit_code);
    if (run.measurements.empty()) return "no measurements (of a ladder or sweep the runs themselves count)";
    return nothing_verified(run) && !with_unverified ? "not verified" : "";
}

Names all_measurements(const Runs& runs) {
    Names names;
    for (const Run* run : runs) {
        for (const auto& m : run->measurements) {
            const bool known = std::ranges::find(names, m.name) != names.end();
            if (!known && has_value(*run, m.name)) names.push_back(m.name);
        }
    }
    return names;
}

Names headline_measurements(const std::string& command, const Runs& runs) {
    Names names = all_measurements(runs);
    Names chosen = vocabulary::shown_at(vocabulary::Shown::compare, command);
    std::erase_if(chosen,
                  [&](const std::string& name) { return std::ranges::find(names, name) == names.end(); });
    if (!chosen.empty()) return chosen;
    std::erase_if(names, [&](const std::string& name) {
        return std::ranges::none_of(runs, [&](const Run* run) {
            const Measurement* m = run->find(name);
            return m != nullptr && (m->kind == Kind::cost || m->kind == Kind::rate);
        });
    });
    return names;
}

}  // namespace ranklab::report::compare
