#include "report/model/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/error.hpp"
#include "vocabulary/facts.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

struct Field {
    const char* name;
    std::string (*of)(const results::Run& run);
};

constexpr std::array kFields{
    Field{"id", [](const results::Run& run) { return run.id; }},
    Field{"command", [](const results::Run& run) { return run.command; }},
    Field{"label", [](const results::Run& run) { return run.label; }},
    Field{"version", [](const results::Run& run) { return run.version; }},
    Field{"git_revision", [](const results::Run& run) { return run.git_revision; }},
    Field{"exit_code", [](const results::Run& run) { return fmt::format("{}", run.exit_code); }},
    Field{"cut_short", [](const results::Run& run) { return run.cut_short(); }},
    Field{"valid", [](const results::Run& run) { return std::string(run.valid ? "1" : "0"); }},
    Field{"nodes", [](const results::Run& run) { return fmt::format("{}", node_count(run)); }},
    Field{"ranks", [](const results::Run& run) { return fmt::format("{}", run.hosts.size()); }},
};

const Field* find_field(const std::string& key) {
    const auto* const field = std::ranges::find(kFields, key, &Field::name);
    return field == kFields.end() ? nullptr : field;
}

// Any fact "environment.NAME" is known; other facts that match a pattern, such as "libraries.*",
// only from runs.
bool is_known_key(const std::string& key) {
    const auto* const fact = vocabulary::find_fact(key);
    return find_field(key) != nullptr || vocabulary::find_setting(key) != nullptr ||
           (fact != nullptr && key.find('.') != std::string::npos &&
            (fact->name == key || key.starts_with("environment.")));
}

// `add_names` adds the names that a run stored; `sentence` has a {} for the name and one for a
// suggestion. Reads the file only if a name is unknown.
template <class IsKnown, class AddNames, class Offered>
void refuse_unknown(std::vector<std::string> names, const results::ResultFile& file,
                    results::Detail detail, IsKnown is_known, AddNames add_names,
                    const Offered& offered, std::string_view sentence) {
    std::erase_if(names, is_known);
    if (names.empty()) return;
    std::set<std::string> stored;
    file.visit(detail, nullptr, [&](const results::Run& run) { add_names(stored, run); });
    for (const auto& name : names) {
        if (stored.empty() || stored.contains(name)) continue;
        for (const auto& one : offered) stored.insert(std::string(one.name));
        throw base::OptionError(
            fmt::format(fmt::runtime(sentence), base::printable(name, 60),
                        base::or_did_you_mean(name, {stored.begin(), stored.end()})));
    }
}

double last_of_epochs(const results::Run& run, const std::string& measurement) {
    double last = stats::kNone;
    // The last epoch may have ended before its evaluation, which leaves NaN.
    for (const auto& epoch : rows_of(run, "epochs"))
        if (const double value = epoch.number(measurement); std::isfinite(value)) last = value;
    return last;
}

}  // namespace

std::string value_of(const results::Run& run, const std::string& key) {
    const auto setting = std::ranges::find(run.config, key, &results::Setting::key);
    if (setting != run.config.end()) return setting->value;
    if (const Field* const field = find_field(key)) return field->of(run);
    const std::size_t dot = std::min(key.find('.'), key.size());
    return run.fact(key.substr(0, dot), dot < key.size() ? key.substr(dot + 1) : "");
}

bool waits_for_launches(const results::Run& run) {
    constexpr double kShare = 0.9;  // a host that runs ahead is idle for more than the rest
    return run.median(vocabulary::kLaunchTime) >=
           kShare * (run.median("forward_time_s") + run.median("backward_time_s"));
}

void refuse_unknown_keys(const std::vector<std::string>& keys, const results::ResultFile& file) {
    const auto add_keys = [](std::set<std::string>& stored, const results::Run& run) {
        for (const auto& setting : run.config) stored.insert(setting.key);
        for (const auto& fact : run.context) stored.insert(fact.section + "." + fact.key);
    };
    refuse_unknown(keys, file, results::Detail::settings, is_known_key, add_keys, kFields,
                   "'{}' is not a setting, field or fact of a run{}");
}

void refuse_unknown_measurements(const std::vector<std::string>& names,
                                 const results::ResultFile& file) {
    // Names with a suffix ("time_us:barrier:8") are known only from runs.
    const auto is_known = [](const std::string& name) {
        return vocabulary::family_of(name) == name && vocabulary::find_quantity(name) != nullptr;
    };
    const auto add_measurements = [](std::set<std::string>& stored, const results::Run& run) {
        for (const auto& one : run.measurements) stored.insert(one.name);
    };
    refuse_unknown(names, file, results::Detail::measurements, is_known, add_measurements,
                   vocabulary::quantities(),
                   "no run has the measurement '{}', and ranklab makes none of that name{}");
}

std::set<std::string> host_names(const results::Run& run) {
    std::set<std::string> hosts;
    for (const auto& row : run.hosts) hosts.insert(row.host);
    return hosts;
}

std::vector<std::string> names_shown(vocabulary::Shown where) {
    std::vector<std::string> names;
    for (const char* command : {"train", "io", "comm"})
        std::ranges::move(vocabulary::shown_at(where, command), std::back_inserter(names));
    return names;
}

bool is_rate(std::string_view measurement) {
    const auto* known = vocabulary::find_quantity(measurement);
    return known != nullptr && known->kind == vocabulary::Kind::rate;
}

double final_value(const results::Run& run, const std::string& measurement) {
    for (const double value : {last_of_epochs(run, measurement), run.median(measurement)})
        if (std::isfinite(value)) return value;
    return stats::kNone;
}

Cell cell_of(const StoredRow& row, std::string_view column) {
    if (row.table->find<std::string>(column) != nullptr) return row.text(column);
    return row.number(column);
}

std::vector<StoredRow> step_parts(const results::Run& run) {
    auto parts = rows_of(run, "phases");
    std::erase_if(parts, [](const auto& row) { return row.text("phase") == "step"; });
    return parts;
}

}  // namespace ranklab::report::model
