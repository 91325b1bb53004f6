#include "report/compare/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::compare {
namespace {

using results::Run;
using Groups = std::vector<LikeRuns>;
using Values = std::set<std::string>;

constexpr const char* kNothing = "(none)";

model::Conditions identity(const Run& run, const std::vector<std::string>& allow) {
    model::Conditions conditions = decisive_conditions(run);
    std::erase_if(conditions, [&](const auto& one) {
        return one.first != "command" && model::is_allowed(one.first, allow);
    });
    return conditions;
}

// All that could be allowed to differ, if only because it does so without a word. A command never may.
std::set<std::string> keys_of(const Runs& a, const Runs& b) {
    std::set<std::string> keys;
    for (const Run* run : both(a, b)) {
        for (const auto& setting : run->config) keys.insert(setting.key);
        for (const auto& conditions :
             {decisive_conditions(*run), noted_conditions(*run), model::surroundings_of(*run)})
            for (const auto& [key, value] : conditions) keys.insert(key);
    }
    keys.erase("command");
    return keys;
}

// What runs of an older program do not tell is not held against them, as long as all that tell it agree.
std::set<std::string> left_open(const Runs& a, const Runs& b) {
    std::set<std::string> open;
    for (const Run* run : both(a, b))
        for (auto& key : model::facts_left_open(*run)) open.insert(std::move(key));
    if (open.empty()) return open;
    std::map<std::string, Values> told;
    for (const Run* run : both(a, b))
        for (const auto& [key, value] : decisive_conditions(*run)) told[key].insert(value);
    std::erase_if(open, [&](const std::string& key) { return told[key].size() > 1; });
    return open;
}

Groups groups_of(const Runs& runs, const std::vector<std::string>& allow) {
    model::InOrderMet<model::Conditions, LikeRuns> groups;
    for (const Run* run : runs) {
        model::Conditions conditions = identity(*run, allow);
        LikeRuns& group = groups[conditions];
        group.conditions = std::move(conditions);
        group.members.push_back(run);
        group.count(*run);
    }
    return groups.all();
}

std::string value_in(const model::Conditions& conditions, const std::string& key) {
    const auto found = conditions.find(key);
    if (found != conditions.end()) return found->second;
    const auto absent = vocabulary::value_when_absent(key);
    return absent.empty() ? kNothing : std::string(absent);
}

std::vector<std::string> unequal_keys(const model::Conditions& a, const model::Conditions& b) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : a) {
        if (value_in(b, key) != value) keys.push_back(key);
    }
    for (const auto& [key, value] : b) {
        if (a.count(key) == 0) keys.push_back(key);
    }
    return keys;
}

std::string listed(const Values& values) {
    return model::some_of(values, 3, " | ", 60);
}

// Of the groups of one command the one that differs least.
const LikeRuns* nearest_group(const LikeRuns& group, const Groups& others) {
    const LikeRuns* nearest = nullptr;
    std::size_t fewest = 0;
    for (const auto& other : others) {
        if (other.conditions.at("command") != group.conditions.at("command")) continue;
        const std::size_t count = unequal_keys(group.conditions, other.conditions).size();
        if (nearest == nullptr || count < fewest) {
            nearest = &other;
            fewest = count;
        }
    }
    return nearest;
}

// Then a difference of times says nothing of a change, and nobody is invited to allow it.
bool is_another_work(const std::string& key) {
    return key == "model" || key == "data" || key == "files" || key == "size";
}

// Neither side has the other's: compared they would tell of the settings, not of the change.
void refuse_counterparts_that_differ(const Groups& only_a, const Groups& only_b) {
    constexpr std::size_t kLookedAt = 50;  // enough for a sentence
    std::map<std::string, std::pair<Values, Values>> differing;
    for (std::size_t i = 0; i < std::min(only_a.size(), kLookedAt); ++i) {
        const LikeRuns* other = nearest_group(only_a[i], only_b);
        if (other == nullptr) continue;
        for (const auto& key : unequal_keys(only_a[i].conditions, other->conditions)) {
            differing[key].first.insert(value_in(only_a[i].conditions, key));
            differing[key].second.insert(value_in(other->conditions, key));
        }
    }
    if (differing.empty()) return;
    std::vector<std::string> parts, keys;
    for (const auto& [key, values] : differing) {
        parts.push_back(fmt::format("{} (A: {}; B: {})", base::printable(key, 60), listed(values.first),
                                    listed(values.second)));
        keys.push_back(base::printable(key, 60));
    }
    const std::string sentence = fmt::format(
        "A and B cannot be compared, since their runs differ in {}; choose ", base::join(parts, ", "));
    if (const auto work = std::ranges::find_if(keys, is_another_work); work != keys.end())
        throw base::OptionError(fmt::format("{}runs of one {}", sentence, *work), {"where"});
    throw base::OptionError(
        fmt::format("{}other runs, or say that these may differ: {}", sentence, base::join(keys, ",")),
        {"where", "allow"});
}

void refuse_nothing_in_common(const Groups& a, const Groups& b) {
    const auto commands = [](const Groups& groups) {
        Values names;
        for (const auto& group : groups) names.insert(group.conditions.at("command"));
        return listed(names);
    };
    throw base::OptionError(fmt::format(
        "A and B have nothing in common to compare: A holds runs of {} and B of {}; name runs of one command",
        commands(a), commands(b)));
}

std::map<std::string, std::pair<Values, Values>> values_by_key(
    const Runs& a, const Runs& b, model::Conditions (*conditions_of)(const Run&)) {
    std::map<std::string, std::pair<Values, Values>> values;
    for (const Run* run : both(a, b))
        for (const auto& [key, value] : conditions_of(*run)) values[key];
    const auto add = [&](const Runs& runs, Values std::pair<Values, Values>::*side) {
        for (const Run* run : runs) {
            const model::Conditions conditions = conditions_of(*run);
            for (auto& [key, of_sides] : values) (of_sides.*side).insert(value_in(conditions, key));
        }
    };
    add(a, &std::pair<Values, Values>::first);
    add(b, &std::pair<Values, Values>::second);
    return values;
}

DifferingKey differing(const std::string& key, const std::pair<Values, Values>& values, bool allowed) {
    return {key,
            {values.first.begin(), values.first.end()},
            {values.second.begin(), values.second.end()},
            allowed};
}

}  // namespace

Runs both(const Runs& a, const Runs& b) {
    Runs all = a;
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

MatchedGroups match_groups(const Runs& a, const Runs& b, const std::vector<std::string>& allow) {
    model::refuse_unknown_allowed(allow, keys_of(a, b));
    std::vector<std::string> free = allow;
    for (const auto& key : left_open(a, b)) free.push_back(key);
    const Groups groups_a = groups_of(a, free);
    const Groups groups_b = groups_of(b, free);
    std::map<model::Conditions, const LikeRuns*> of_b;
    for (const auto& group : groups_b) of_b[group.conditions] = &group;
    MatchedGroups matched;
    for (const auto& group : groups_a) {
        const auto found = of_b.find(group.conditions);
        if (found == of_b.end()) {
            matched.only_a.push_back(group);
        } else {
            matched.pairs.emplace_back(group, *found->second);
            of_b.erase(found);
        }
    }
    for (const auto& group : groups_b) {
        if (of_b.count(group.conditions) != 0) matched.only_b.push_back(group);
    }
    refuse_counterparts_that_differ(matched.only_a, matched.only_b);
    if (matched.pairs.empty()) refuse_nothing_in_common(groups_a, groups_b);
    return matched;
}

std::vector<DifferingKey> differing_keys(const Runs& a, const Runs& b,
                                         const std::vector<std::string>& allow) {
    constexpr std::size_t kMostValues = 3;  // of more it is a fact of each run, which cannot be compared
    std::vector<DifferingKey> keys;
    const auto open = left_open(a, b);
    for (const auto& [key, values] : values_by_key(a, b, decisive_conditions)) {
        const bool allowed = model::is_allowed(key, allow);
        if ((allowed || open.count(key) != 0) && values.first != values.second)
            keys.push_back(differing(key, values, allowed));
    }
    for (const auto& [key, values] : values_by_key(a, b, noted_conditions)) {
        if (values.first != values.second && values.first.size() <= kMostValues &&
            values.second.size() <= kMostValues)
            keys.push_back(differing(key, values, false));
    }
    return keys;
}

std::vector<std::string> titles_of(const std::vector<LikeRuns>& groups) {
    static constexpr std::array kAlways{"model", "data", "mode", "strategy", "files", "size", "ranks"};
    model::MetConditions met;
    for (const auto& group : groups) met.add(group.conditions);
    std::vector<std::string> order(kAlways.begin(), kAlways.end()), differing = met.differing();
    std::ranges::sort(differing);
    for (const auto& key : differing)
        if (key != "command" && std::ranges::find(order, key) == order.end()) order.push_back(key);
    std::vector<std::string> titles;
    for (const auto& group : groups) {
        titles.push_back(group.conditions.at("command"));
        for (const auto& key : order)
            if (const auto found = group.conditions.find(key); found != group.conditions.end())
                titles.back() += fmt::format(", {} {}", key, found->second);
    }
    return titles;
}

}  // namespace ranklab::report::compare
