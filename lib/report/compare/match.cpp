#include "report/compare/match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/model/selection.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/facts.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::compare {
namespace {

using model::Conditions;
using results::Run;
using Groups = std::vector<LikeRuns>;
using Values = std::set<std::string>;
using OfSides = std::pair<Values, Values>;

constexpr const char* kNothing = "(none)";

// What has to be equal for two runs to be compared. A flag that is not set is the same as one that the
// program did not have.
Conditions decisive_conditions(const Run& run) {
    Conditions conditions{{"command", run.command}};
    for (const auto& [key, value, number] : run.config) {
        const bool unset = value.empty() || value == "false" || value == "nan";
        if (unset || !vocabulary::matters_to(vocabulary::Asker::comparison, key, value)) continue;
        conditions[key] = vocabulary::setting_row(key).role == options::Role::kept ? "set" : value;
    }
    for (const auto& [section, key, value] : run.context) {
        const std::string name = section + "." + key;
        if (model::is_decisive_fact(name, value) && !value.empty()) conditions[name] = value;
    }
    // The setting `ranks` of an old `ranklab io`: those that a strategy used, of the world's.
    const bool some = run.command == "io" && conditions.contains("ranks");
    conditions[some ? "world_size" : "ranks"] = fmt::format("{}", run.hosts.size());
    conditions["nodes"] = fmt::format("{}", model::node_count(run));
    conditions["hosts"] = model::hosts_of(run);
    for (const auto& [key, value] :
         {std::pair{"devices", model::devices_of(run)}, {"file_system", model::file_system_of(run)}})
        if (!value.empty()) conditions[key] = value;
    if (model::cache_kind(run) == "cold") conditions["cache"] = "cold";  // beside no other
    return conditions;
}

// Facts that may matter and differ too often to be refused: said where they differ.
Conditions noted_conditions(const Run& run) {
    Values cpus;
    for (const auto& row : run.hosts) cpus.insert(row.cpus);
    Conditions conditions{{"cpus", base::join({cpus.begin(), cpus.end()}, " ")}};
    const std::string cache = model::cache_kind(run);
    if (!cache.empty() && cache != "cold") conditions["cache"] = cache;
    for (const auto& [section, key, value] : run.context) {
        const std::string name = section + "." + key;
        if (vocabulary::role_of_fact(name) == vocabulary::FactRole::noted) conditions[name] = value;
    }
    return conditions;
}

// All that could be allowed to differ, if only because it does so without a word. A command never may.
std::set<std::string> keys_of(const Runs& runs) {
    std::set<std::string> keys;
    for (const Run* run : runs) {
        for (const auto& setting : run->config) keys.insert(setting.key);
        for (const auto& conditions :
             {decisive_conditions(*run), noted_conditions(*run), model::surroundings_of(*run)})
            for (const auto& [key, value] : conditions) keys.insert(key);
    }
    keys.erase("command");
    return keys;
}

Groups groups_of(const Runs& runs, const std::vector<std::string>& allow) {
    InOrderMet<Conditions, LikeRuns> groups;
    for (const Run* run : runs) {
        Conditions conditions = decisive_conditions(*run);
        std::erase_if(conditions, [&](const auto& one) {
            return one.first != "command" && model::is_allowed(one.first, allow);
        });
        LikeRuns& group = groups[conditions];
        group.conditions = std::move(conditions);
        group.members.push_back(run);
    }
    return groups.all();
}

std::string value_in(const Conditions& conditions, const std::string& key) {
    const auto found = conditions.find(key);
    return found == conditions.end() ? kNothing : found->second;
}

std::vector<std::string> unequal_keys(const LikeRuns& a, const LikeRuns& b) {
    return model::differing_keys({a.conditions, b.conditions});
}

std::string listed(const Values& values) {
    return model::some_of(values, 3, " | ", 60);
}

// Of the groups of one command the one that differs least.
const LikeRuns* nearest_group(const LikeRuns& group, const Groups& others) {
    const LikeRuns* nearest = nullptr;
    for (const auto& other : others)
        if (other.command() == group.command() &&
            (nearest == nullptr || unequal_keys(group, other).size() < unequal_keys(group, *nearest).size()))
            nearest = &other;
    return nearest;
}

// Then a difference of times says nothing of a change, and nobody is invited to allow it.
bool is_another_work(const std::string& key) {
    return key == "model" || key == "data" || key == "files" || key == "size";
}

// Neither side has the other's: compared they would tell of the settings, not of the change.
void refuse_counterparts_that_differ(const Groups& only_a, const Groups& only_b) {
    constexpr std::size_t kLookedAt = 50;  // enough for a sentence
    std::map<std::string, OfSides> differing;
    for (std::size_t i = 0; i < std::min(only_a.size(), kLookedAt); ++i) {
        const LikeRuns* other = nearest_group(only_a[i], only_b);
        if (other == nullptr) continue;
        for (const auto& key : unequal_keys(only_a[i], *other)) {
            differing[key].first.insert(value_in(only_a[i].conditions, key));
            differing[key].second.insert(value_in(other->conditions, key));
        }
    }
    if (differing.empty()) return;
    std::vector<std::string> parts, keys;
    for (const auto& [key, values] : differing) {
        keys.push_back(base::printable(key, 60));
        parts.push_back(
            fmt::format("{} (A: {}; B: {})", keys.back(), listed(values.first), listed(values.second)));
    }
    const std::string sentence =
        "A and B cannot be compared: their runs differ in " + base::join(parts, ", ");
    if (const auto work = std::ranges::find_if(keys, is_another_work); work != keys.end())
        throw base::OptionError(fmt::format("{}; choose runs of one {}", sentence, *work), {"where"});
    throw base::OptionError(fmt::format("{}; choose other runs, or say that these may differ: {}", sentence,
                                        base::join(keys, ",")),
                            {"where", "allow"});
}

void refuse_nothing_in_common(const Groups& a, const Groups& b) {
    const auto commands = [](const Groups& groups) {
        Values names;
        for (const auto& group : groups) names.insert(group.command());
        return listed(names);
    };
    throw base::OptionError(fmt::format(
        "A and B have nothing in common to compare: A holds runs of {} and B of {}; name runs of one command",
        commands(a), commands(b)));
}

std::map<std::string, OfSides> values_by_key(const Runs& a, const Runs& b,
                                             Conditions (*conditions_of)(const Run&)) {
    std::map<std::string, OfSides> values;
    for (const Run* run : both(a, b))
        for (const auto& [key, value] : conditions_of(*run)) values[key];
    for (auto& [key, of_sides] : values) {
        for (const Run* run : a) of_sides.first.insert(value_in(conditions_of(*run), key));
        for (const Run* run : b) of_sides.second.insert(value_in(conditions_of(*run), key));
    }
    return values;
}

}  // namespace

Runs both(const Runs& a, const Runs& b) {
    Runs all = a;
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

std::string process_of(const Run& run) {
    const std::string instance = model::value_of(run, "process.instance");
    return instance.empty() ? run.id : instance;
}

MatchedGroups match_groups(const Runs& a, const Runs& b, const std::vector<std::string>& allow) {
    model::refuse_unknown_allowed(allow, keys_of(both(a, b)));
    const Groups groups_a = groups_of(a, allow);
    Groups groups_b = groups_of(b, allow);
    const Groups all_b = groups_b;
    MatchedGroups matched;
    for (const auto& group : groups_a) {
        const auto found = std::ranges::find(groups_b, group.conditions, &LikeRuns::conditions);
        if (found == groups_b.end()) {
            matched.only_a.push_back(group);
        } else {
            matched.pairs.emplace_back(group, *found);
            groups_b.erase(found);
        }
    }
    matched.only_b = groups_b;
    refuse_counterparts_that_differ(matched.only_a, matched.only_b);
    if (matched.pairs.empty()) refuse_nothing_in_common(groups_a, all_b);
    return matched;
}

std::vector<DifferingKey> differing_keys(const Runs& a, const Runs& b,
                                         const std::vector<std::string>& allow) {
    constexpr std::size_t kMostValues = 3;  // of more it is a fact of each run, which cannot be compared
    std::vector<DifferingKey> keys;
    const auto add = [&](const std::string& key, const OfSides& values, bool allowed) {
        if (values.first != values.second)
            keys.push_back({key,
                            {values.first.begin(), values.first.end()},
                            {values.second.begin(), values.second.end()},
                            allowed});
    };
    for (const auto& [key, values] : values_by_key(a, b, decisive_conditions))
        if (model::is_allowed(key, allow)) add(key, values, true);
    for (const auto& [key, values] : values_by_key(a, b, noted_conditions))
        if (values.first.size() <= kMostValues && values.second.size() <= kMostValues)
            add(key, values, false);
    return keys;
}

std::vector<std::string> titles_of(const std::vector<LikeRuns>& groups) {
    static constexpr std::array kAlways{"model", "data", "mode", "strategy", "files", "size", "ranks"};
    std::vector<Conditions> all;
    for (const auto& group : groups) all.push_back(group.conditions);
    std::vector<std::string> order(kAlways.begin(), kAlways.end());
    for (const auto& key : model::differing_keys(all))
        if (key != "command" && std::ranges::find(order, key) == order.end()) order.push_back(key);
    std::vector<std::string> titles;
    for (const auto& group : groups) {
        titles.push_back(group.command());
        for (const auto& key : order)
            if (const auto found = group.conditions.find(key); found != group.conditions.end())
                titles.back() += fmt::format(", {} {}", key, found->second);
    }
    return titles;
}

}  // namespace ranklab::report::compare
