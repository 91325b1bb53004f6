#include "report/model/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/facts.hpp"
#include "results/vocabulary/measurements.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

bool equal(const std::string& actual, const std::string& wanted) {
    if (!wanted.empty() && wanted.back() == '*')
        return actual.compare(0, wanted.size() - 1, wanted, 0, wanted.size() - 1) == 0;
    if (actual == wanted) return true;
    const auto a = base::number_in(actual);
    const auto b = base::number_in(wanted);
    return a && b && *a == *b;
}

bool ordered(const std::string& actual, const std::string& relation, const std::string& wanted) {
    const auto a = base::number_in(actual);
    const auto b = base::number_in(wanted);
    if (!a || !b) return false;
    if (relation == "<") return *a < *b;
    if (relation == "<=") return *a <= *b;
    return relation == ">" ? *a > *b : *a >= *b;
}

using results::Run;

struct Field {
    const char* name;
    std::string (*of)(const Run& run);
};

constexpr std::array kFields{
    Field{"id", [](const Run& run) { return run.id; }},
    Field{"command", [](const Run& run) { return run.command; }},
    Field{"label", [](const Run& run) { return run.label; }},
    Field{"version", [](const Run& run) { return run.version; }},
    Field{"git_revision", [](const Run& run) { return run.git_revision; }},
    Field{"exit_code", [](const Run& run) { return fmt::format("{}", run.exit_code); }},
    Field{"cut_short", [](const Run& run) { return run.cut_short(); }},
    Field{"valid", [](const Run& run) { return std::string(run.valid ? "1" : "0"); }},
    Field{"nodes", [](const Run& run) { return fmt::format("{}", node_count(run)); }},
    Field{"ranks", [](const Run& run) { return fmt::format("{}", run.hosts.size()); }},
};

const Field* find_field(const std::string& key) {
    const auto* const field = std::ranges::find(kFields, key, &Field::name);
    return field == kFields.end() ? nullptr : field;
}

// Of a group of facts ("libraries.*") the runs say which there are; the environment has whatever a user sets.
bool is_in_vocabulary(const std::string& key) {
    const auto* const fact = vocabulary::find_fact(key);
    return find_field(key) != nullptr || vocabulary::find_setting(key) != nullptr ||
           (fact != nullptr && key.find('.') != std::string::npos &&
            (fact->name == key || key.starts_with("environment.")));
}

std::set<std::string> stored_keys(const std::vector<results::ResultFile>& files) {
    std::set<std::string> keys;
    const auto note = [&](const Run& run) {
        for (const auto& setting : run.config) keys.insert(setting.key);
        for (const auto& fact : run.context) keys.insert(fact.section + "." + fact.key);
        return false;
    };
    for (const auto& file : files) file.visit(results::Detail::settings, note, [](Run&&) {});
    return keys;
}

std::set<std::string> stored_measurements(const std::vector<results::ResultFile>& files) {
    std::set<std::string> names;
    const auto every = [](const Run&) { return true; };
    const auto note = [&](Run&& run) {
        for (const auto& one : run.measurements) names.insert(one.name);
    };
    for (const auto& file : files) file.visit(results::Detail::measurements, every, note);
    return names;
}

constexpr std::array<std::string_view, 6> kRelations{"=", "!=", "<", "<=", ">", ">="};

bool is_number(const std::string& text) {
    return !std::isnan(base::number_in(text).value_or(NAN));
}

}  // namespace

void refuse_unknown_keys(const std::vector<std::string>& keys,
                         const std::vector<results::ResultFile>& files) {
    if (std::ranges::all_of(keys, is_in_vocabulary)) return;
    const auto stored = stored_keys(files);
    for (const auto& key : keys) {
        if (key.empty() || stored.empty() || stored.contains(key) || is_in_vocabulary(key)) continue;
        std::vector<std::string> known(stored.begin(), stored.end());
        for (const auto& field : kFields) known.emplace_back(field.name);
        const std::string near = base::did_you_mean(key, known);
        throw base::OptionError(
            fmt::format("'{}' is no setting, field or fact of a run that can be asked for; {}",
                        base::printable(key, 60), near.empty() ? "check how it is spelt" : near));
    }
}

void refuse_unknown_measurements(const std::vector<std::string>& names,
                                 const std::vector<results::ResultFile>& files) {
    // One with a suffix is as known as the runs that have it.
    const auto is_known = [](const auto& name) {
        return vocabulary::family_of(name) == name && vocabulary::find_quantity(name) != nullptr;
    };
    if (std::ranges::all_of(names, is_known)) return;
    const auto stored = stored_measurements(files);
    for (const auto& name : names) {
        if (stored.empty() || stored.contains(name) || is_known(name)) continue;
        std::vector<std::string> known(stored.begin(), stored.end());
        for (const auto& one : vocabulary::quantities()) known.emplace_back(one.name);
        const std::string near = base::did_you_mean(name, known);
        throw base::OptionError(
            fmt::format("no run has the measurement '{}', and ranklab makes none of that name; {}",
                        base::printable(name, 60), near.empty() ? "check how it is spelt" : near));
    }
}

std::string value_of(const results::Run& run, const std::string& key) {
    const auto setting = std::ranges::find_if(run.config, [&](const auto& one) { return one.key == key; });
    if (setting != run.config.end()) return setting->value;
    if (const Field* const field = find_field(key)) return field->of(run);
    const std::size_t dot = std::min(key.find('.'), key.size());
    return run.fact(key.substr(0, dot), dot < key.size() ? key.substr(dot + 1) : "");
}

Selection::Selection(const std::vector<std::string>& conditions) {
    for (const auto& text : conditions) conditions_.push_back(parse(text));
}

Selection::Condition Selection::parse(const std::string& text) {
    const std::size_t begin = std::min(text.find_first_of("!<>=~"), text.size());
    const std::size_t end = std::min(text.find_first_not_of("!<>=~", begin), text.size());
    const std::string relation = text.substr(begin, end - begin);
    const bool whole = relation == "=" || relation == "!=";
    auto values = base::split(text.substr(end), ',');
    if (begin > 0 && std::ranges::find(kRelations, relation) != kRelations.end() &&
        (whole || std::ranges::all_of(values, is_number))) {
        if (!whole && values.size() > 1)
            throw base::OptionError(
                fmt::format("'{}' has a list behind {}, and a list is for = and != alone; give one number, "
                            "without a comma between its thousands",
                            base::printable(text, 80), relation),
                {"where"});
        return {text.substr(0, begin), relation, std::move(values)};
    }
    throw base::OptionError(
        fmt::format("'{}' is no condition; give KEY=VALUE, as in model=mnist-cnn, or KEY!=VALUE, "
                    "KEY>=NUMBER",
                    base::printable(text, 80)));
}

bool Selection::holds(const Condition& condition, const std::string& actual) {
    const auto& [key, relation, values] = condition;
    const auto is = [&](const std::string& wanted) {
        return relation == "=" || relation == "!=" ? equal(actual, wanted)
                                                   : ordered(actual, relation, wanted);
    };
    const bool any = std::ranges::any_of(values, is);
    return relation == "!=" ? !any : any;
}

std::vector<std::string> Selection::keys() const {
    std::vector<std::string> keys;
    for (const auto& condition : conditions_) keys.push_back(condition.key);
    return keys;
}

bool Selection::matches(const results::Run& run) const {
    return std::ranges::all_of(conditions_, [&](const Condition& condition) {
        return holds(condition, value_of(run, condition.key));
    });
}

}  // namespace ranklab::report::model
