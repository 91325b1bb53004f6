#include "report/model/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "report/model/selection.hpp"
#include "report/model/step_parts.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

bool before(const std::string& a, const std::string& b) {
    const auto x = base::number_in(a);
    const auto y = base::number_in(b);
    if (x && y && *x != *y) return *x < *y;
    if (x.has_value() != y.has_value()) return x.has_value();
    return a < b;
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::find(all, one) != all.end();
}

bool is_not_converged(const results::Run& run) {
    return std::ranges::any_of(run.warnings, [](const std::string& warning) {
        return warning.find("not converged") != std::string::npos;
    });
}

bool has_wanted(const results::Run& run, const std::vector<std::string>& wanted) {
    return std::ranges::any_of(run.measurements,
                               [&](const auto& m) { return m.summary.n > 0 && contains(wanted, m.name); });
}

// What speedups are made of, and what says why one is faster.
bool is_part_of_a_time(const std::string& name) {
    const auto* const known = vocabulary::find_quantity(name);
    return contains(scaling_times(), name) || (known != nullptr && !known->part_of.empty());
}

bool ended_with(const results::Run& run, base::ExitCode code) {
    return run.exit_code == static_cast<int>(code);
}

// Where and by how much a rank was measured: what a row and its base should have in common.
Conditions places_of(const results::Run& run) {
    Conditions places = machine_of(run, true);
    places["threads"] = threads_text(run);
    return places;
}

}  // namespace

std::vector<std::string> headline_measurements() {
    std::vector<std::string> names;
    for (const char* command : {"train", "io", "comm"})
        for (auto& name : vocabulary::shown_at(vocabulary::Shown::groups, command))
            names.push_back(std::move(name));
    return names;
}

const std::vector<std::string>& scaling_times() {
    static const auto kNames = [] {
        std::vector<std::string> names;
        for (const auto* one : vocabulary::wholes()) names.emplace_back(one->name);
        return names;
    }();
    return kNames;
}

RunGroups::RunGroups(std::vector<std::string> keys, std::vector<std::string> measurements,
                     std::vector<std::string> allow)
    : keys_(std::move(keys)),
      measurements_(measurements.empty() ? headline_measurements() : std::move(measurements)),
      allow_(std::move(allow)) {
    std::set<std::string> met;
    for (const auto& key : keys_)
        if (key.empty() || !met.insert(key).second)
            throw base::OptionError(
                fmt::format(
                    "a table is made by keys with a comma between, each once, such as ranks,sync; not '{}'",
                    key),
                {"group-by"});
}

void RunGroups::check_allowed() const {
    if (runs_ > 0) refuse_unknown_allowed(allow_, surroundings_);
}

Conditions RunGroups::kept_apart(const results::Run& run) {
    Conditions all = machine_of(run, true);
    all.merge(files_of(run));
    for (const auto& conditions : {surroundings_of(run), all})
        for (const auto& [key, value] : conditions) surroundings_.insert(key);
    std::erase_if(
        all, [&](const auto& one) { return is_allowed(one.first, allow_) || contains(keys_, one.first); });
    return all;
}

std::vector<std::string> RunGroups::apart() const {
    MetConditions met;
    for (const auto& [key, group] : groups_)
        if (group.all() > 0) met.add(group.conditions);
    auto keys = met.differing();
    std::ranges::sort(keys);
    return keys;
}

std::vector<std::string> RunGroups::keys() const {
    std::vector<std::string> all = keys_;
    for (auto& name : apart()) all.push_back(std::move(name));
    return all;
}

void RunGroups::add(const results::Run& run) {
    std::vector<std::string> key;
    for (const auto& name : keys_) key.push_back(value_of(run, name));
    const Conditions conditions = kept_apart(run);
    KeyedGroup& group = groups_[{key, conditions}];
    group.key = key;
    group.conditions = conditions;
    ++runs_;
    if (run.valid && !has_wanted(run, measurements_)) {
        ++group.without;
        return;
    }
    group.count(run);
    if (!run.valid) return;
    group.factors.add(factors_of(run));
    group.places.add(places_of(run));
    factors_.add(factors_of(run));
    if (sums_no_gradients(run, run.hosts.size())) ++group.unsummed;
    if (is_not_converged(run))
        ++group.not_converged;
    else if (ended_with(run, base::ExitCode::invalid_measurement))
        ++group.doubtful;
    if (!run.cut_short().empty()) ++group.cut_short;
    for (const auto& m : run.measurements)
        if (contains(measurements_, m.name) || is_part_of_a_time(m.name)) group.add_value(m);
    for (const auto& part : step_parts(run))
        if (!std::isnan(part.percent)) group.shares[std::string(part.measurement)].push_back(part.percent);
}

std::vector<KeyedGroup> RunGroups::sorted() const {
    std::vector<KeyedGroup> groups;
    const auto others = apart();
    for (const auto& [key, group] : groups_) {
        if (group.all() == 0) continue;
        groups.push_back(group);
        for (const auto& name : others) {
            const auto found = group.conditions.find(name);
            groups.back().key.push_back(found == group.conditions.end() ? "" : found->second);
        }
    }
    std::ranges::stable_sort(groups, [](const KeyedGroup& a, const KeyedGroup& b) {
        return std::lexicographical_compare(a.key.begin(), a.key.end(), b.key.begin(), b.key.end(), before);
    });
    return groups;
}

std::size_t RunGroups::without_values() const {
    std::size_t runs = 0;
    for (const auto& [key, group] : groups_) runs += group.without;
    return runs;
}

std::vector<std::string> RunGroups::measurements() const {
    std::vector<std::string> present;
    for (const auto& name : measurements_) {
        const bool there = std::ranges::any_of(
            groups_, [&](const auto& entry) { return entry.second.values.count(name) != 0; });
        if (there) present.push_back(name);
    }
    return present;
}

}  // namespace ranklab::report::model
