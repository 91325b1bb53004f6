// Pairs the runs of A and B by configuration.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/compare/compare.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"
#include "vocabulary/facts.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::report::compare {
namespace {

using model::Conditions;
using results::Run;
using Groups = std::vector<CompareGroup>;
using Values = std::set<std::string>;
using OfSides = std::pair<Values, Values>;

constexpr const char* kNothing = "(none)";

// A cold cache must be equal on both sides; other kinds are noted.
bool is_cold(const std::string& cache) {
    return vocabulary::word_in(cache) == vocabulary::FactWord::cold;
}

// Conditions that must be equal for two runs to be compared. Unset options are left out, so that a
// run of an older version, which lacks the option, equals a run that leaves it unset.
Conditions decisive_conditions(const Run& run) {
    Conditions conditions{{"command", run.command}};
    for (const auto& [key, value, number] : run.config) {
        const bool unset = value.empty() || value == "false" || value == "nan";
        if (unset || !vocabulary::matters_to(vocabulary::SettingUse::comparison, key, value))
            continue;
        conditions[key] = vocabulary::setting_row(key).role == options::Role::kept ? "set" : value;
    }
    conditions.merge(model::decisive_facts(run));
    // An older `ranklab io` had a setting `ranks`: how many of the ranks the strategy used.
    const bool used_some = run.command == "io" && conditions.contains("ranks");
    conditions[used_some ? "world_size" : "ranks"] = fmt::format("{}", run.hosts.size());
    conditions["nodes"] = fmt::format("{}", model::node_count(run));
    conditions["hosts"] = model::hosts_of(run);
    for (const auto& [key, value] : {std::pair{"devices", model::devices_of(run)},
                                     {"file_system", model::file_system_of(run)}})
        if (!value.empty()) conditions[key] = value;
    if (const auto cache = model::cache_kind(run); is_cold(cache)) conditions["cache"] = cache;
    return conditions;
}

// Facts that may matter, but differ too often to refuse a comparison.
Conditions noted_conditions(const Run& run) {
    Values cpus;
    for (const auto& row : run.hosts) cpus.insert(row.cpus);
    Conditions conditions{{"cpus", base::join({cpus.begin(), cpus.end()}, " ")}};
    const std::string cache = model::cache_kind(run);
    if (!cache.empty() && !is_cold(cache)) conditions["cache"] = cache;
    for (const auto& [section, key, value] : run.context) {
        const std::string name = section + "." + key;
        if (vocabulary::role_of_fact(name) == vocabulary::FactRole::noted) conditions[name] = value;
    }
    return conditions;
}

// All keys that --ignore takes. A command must not differ.
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

std::string listed(const Values& values) {
    return some_of(values, 3, " | ", 60);
}

// The values of each key on each side, kNothing for runs without the key.
std::map<std::string, OfSides> values_by_key(const CompareGroup& one,
                                             Conditions (*conditions_of)(const Run&)) {
    std::map<std::string, OfSides> values;
    for (const Run* run : both(one.a, one.b))
        for (const auto& [key, value] : conditions_of(*run)) values[key];
    for (const auto& [runs, side] :
         {std::pair{&one.a, &OfSides::first}, {&one.b, &OfSides::second}})
        for (const Run* run : *runs) {
            const auto conditions = conditions_of(*run);
            for (auto& [key, of_sides] : values) {
                const auto found = conditions.find(key);
                (of_sides.*side).insert(found == conditions.end() ? kNothing : found->second);
            }
        }
    return values;
}

// Keys that a refusal does not offer to --ignore: times of different work cannot show a change.
bool is_another_work(const std::string& key) {
    return key == "model" || key == "data" || key == "files" || key == "size";
}

// Conditions that keep A's and B's runs of a command from being paired, with the values of each
// side. Leaves out ignored conditions.
std::map<std::string, OfSides> differences(const Groups& all,
                                           const std::vector<std::string>& ignore) {
    std::map<std::string, CompareGroup> alone;  // by command
    for (const auto& one : all)
        if (auto& some = alone[one.command()]; !one.on_both_sides()) {
            some.a = both(some.a, one.a);
            some.b = both(some.b, one.b);
        }
    std::map<std::string, OfSides> found;
    for (const auto& [command, some] : alone)
        for (const auto& [key, values] : values_by_key(some, decisive_conditions))
            if (some.on_both_sides() && values.first != values.second &&
                !model::is_ignored(key, ignore))
                found[key] = values;
    return found;
}

// Throws if unpaired runs differ: comparing them would show that difference, not the change.
void refuse_counterparts_that_differ(const Groups& all, const std::vector<std::string>& ignore) {
    std::vector<std::string> parts, keys;
    for (const auto& [key, values] : differences(all, ignore)) {
        keys.push_back(base::printable(key, 60));
        parts.push_back(fmt::format("{} (A: {}; B: {})", keys.back(), listed(values.first),
                                    listed(values.second)));
    }
    if (keys.empty()) return;
    const std::string sentence =
        "A and B cannot be compared: their runs differ in " + base::join(parts, ", ");
    if (const auto work = std::ranges::find_if(keys, is_another_work); work != keys.end())
        throw base::OptionError(fmt::format("{}; choose runs of one {}", sentence, *work),
                                {"where"});
    throw base::OptionError(fmt::format("{}; choose other runs, or say that these may differ: {}",
                                        sentence, base::join(keys, ",")),
                            {"where", "ignore"});
}

void refuse_nothing_in_common(const Groups& all) {
    if (std::ranges::any_of(all, &CompareGroup::on_both_sides)) return;
    Values of_a, of_b;
    for (const auto& one : all) (one.b.empty() ? of_a : of_b).insert(one.command());
    throw base::OptionError(
        fmt::format("A and B have nothing in common to compare: A holds runs of {} and B of {}; "
                    "name runs of one command",
                    listed(of_a), listed(of_b)));
}

std::string repeated_note(const char* side, const Runs& runs) {
    Values processes;
    for (const Run* run : runs) processes.insert(process_of(*run));
    if (processes.size() == runs.size()) return "";
    return fmt::format(
        "the {} runs of {} were made by {}: each launch counts once, with its median; start "
        "ranklab once per run",
        runs.size(), side,
        processes.size() == 1 ? "1 launch" : fmt::format("{} launches", processes.size()));
}

std::string shared_note(const CompareGroup& group) {
    if (group.same_runs()) return "A and B are the same runs: no difference can be tested";
    return group.shared == 0
               ? ""
               : fmt::format("{} of the runs are on both sides, and hide a difference",
                             group.shared);
}

std::string order_note(const Runs& a, const Runs& b) {
    const auto last = [](const Runs& runs) {
        return std::ranges::max(runs, {}, &Run::started_utc)->started_utc;
    };
    const auto first = [](const Runs& runs) {
        return std::ranges::min(runs, {}, &Run::started_utc)->started_utc;
    };
    const bool a_first = last(a) < first(b);
    if (!a_first && !(last(b) < first(a))) return "";
    return fmt::format(
        "all runs of {} were before all of {}: a drift of the machine looks like a change; "
        "alternate runs of A and B",
        a_first ? "A" : "B", a_first ? "B" : "A");
}

std::string load_note(const Runs& a, const Runs& b) {
    const std::string of_a = load_of(a).text(), of_b = load_of(b).text();
    return of_a == of_b && of_a == model::OtherLoad({}).text()
               ? ""
               : fmt::format("load by other processes: A: {}; B: {}", of_a, of_b);
}

// "train, model mnist-cnn, ranks 2": the command, the main settings, and the settings that differ.
void add_titles(Groups& groups) {
    static constexpr std::array kAlways{"model", "data", "mode", "strategy",
                                        "files", "size", "ranks"};
    std::map<std::string, std::vector<std::string>> values;
    for (const auto& group : groups)
        for (const auto& [key, value] : group.conditions) values[key].push_back(value);
    std::vector<std::string> order(kAlways.begin(), kAlways.end());
    for (const auto& [key, some] : values)
        if (key != "command" && std::ranges::find(order, key) == order.end() &&
            std::ranges::count(some, some.front()) != std::ssize(groups))
            order.push_back(key);
    for (auto& group : groups) {
        group.title = group.command();
        for (const auto& key : order)
            if (const auto found = group.conditions.find(key); found != group.conditions.end())
                group.title += fmt::format(", {} {}", key, found->second);
    }
}

Groups paired(const Runs& a, const Runs& b, const std::vector<std::string>& ignore) {
    InsertionOrderedMap<Conditions, CompareGroup> met;
    for (Runs CompareGroup::*side : {&CompareGroup::a, &CompareGroup::b})
        for (const Run* run : side == &CompareGroup::a ? a : b) {
            Conditions conditions = decisive_conditions(*run);
            std::erase_if(conditions, [&](const auto& one) {
                return one.first != "command" && model::is_ignored(one.first, ignore);
            });
            CompareGroup& one = met[conditions];
            one.conditions = std::move(conditions);
            (one.*side).push_back(run);
        }
    return met.all();
}

}  // namespace

Runs both(const Runs& a, const Runs& b) {
    Runs all = a;
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

model::OtherLoad load_of(const Runs& runs) {
    std::vector<double> shares;
    for (const Run* run : runs) shares.push_back(model::other_load(*run));
    return model::OtherLoad(shares);
}

std::string process_of(const Run& run) {
    const std::string instance = run.fact(fact::kProcess);
    return instance.empty() ? run.id : instance;
}

Groups groups_of(const Runs& a, const Runs& b, const std::vector<std::string>& ignore) {
    model::refuse_unknown_ignored(ignore, keys_of(both(a, b)));
    Groups groups = paired(a, b, ignore);
    refuse_counterparts_that_differ(groups, ignore);
    refuse_nothing_in_common(groups);
    add_titles(groups);
    return groups;
}

std::vector<std::string> one_difference(const Runs& a, const Runs& b,
                                        const std::vector<std::string>& ignore) {
    std::vector<std::string> keys;
    for (const auto& [key, values] : differences(paired(a, b, ignore), ignore)) keys.push_back(key);
    return explaining(keys).empty() ? std::vector<std::string>() : keys;
}

std::string explaining(const std::vector<std::string>& keys) {
    for (const auto& key : keys)
        if (vocabulary::find_setting(key) != nullptr &&
            std::ranges::all_of(keys, [&](const std::string& other) {
                return other == key || model::follows(key, other);
            }))
            return key;
    return "";
}

std::vector<DifferingKey> differing_keys(const CompareGroup& group,
                                         const std::vector<std::string>& ignore) {
    constexpr std::size_t kMostValues = 3;  // a fact with more values differs from run to run
    std::vector<DifferingKey> keys;
    for (const auto& [key, of] : values_by_key(group, decisive_conditions))
        if (of.first != of.second && model::is_ignored(key, ignore))
            keys.push_back({key, of.first, of.second, true});
    for (const auto& [key, of] : values_by_key(group, noted_conditions))
        if (of.first != of.second && std::max(of.first.size(), of.second.size()) <= kMostValues)
            keys.push_back({key, of.first, of.second, false});
    return keys;
}

std::vector<std::string> notes_of(const CompareGroup& group) {
    std::vector<std::string> notes{repeated_note("A", group.a), repeated_note("B", group.b),
                                   shared_note(group), order_note(group.a, group.b),
                                   load_note(group.a, group.b)};
    std::erase(notes, "");
    return notes;
}

}  // namespace ranklab::report::compare
