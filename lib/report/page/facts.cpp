#include <fmt/format.h>

#include <map>

#include "report/model/values.hpp"
#include "report/page/sections.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using figures::cut;

Data item(const std::string& name, const std::string& unit, const std::string& text) {
    Object item = named(name, unit);
    item.insert({{"text", cut(text, 600)}});
    return item;
}

constexpr std::size_t kMostFacts = 400, kMostHosts = 20;

using Values = std::map<std::string, std::size_t>;  // value -> how many runs have it

Data different_data(const std::string& fact, const Values& values) {
    List rows;
    for (const auto& [value, runs] : values)
        rows.push_back(Object{{"value", value.empty() ? "(empty)" : cut(value, 160)},
                              {"runs", model::counted(runs, "run")},
                              {"last", rows.size() + 1 == values.size()}});
    return Object{{"fact", cut(fact, 80)}, {"values", rows}};
}

std::string hosts_text(const model::GroupedRuns& grouped) {
    std::vector<std::string> names;
    for (const auto& [host, runs] : grouped.hosts()) names.push_back(cut(host, 80));
    return model::some_of(names, kMostHosts);
}

}  // namespace

Object named(std::string_view measurement, std::string_view unit) {
    return {{"anchor", figures::plain_name(vocabulary::family_of(measurement))},
            {"name", cut(measurement, 80)},
            {"unit", cut(unit, 20)}};
}

Data definitions_data(const PageInput& input, const std::set<std::string>& named) {
    std::map<std::string, std::string> measured;  // name -> unit
    for (const auto& group : input.grouped().groups()) {
        const auto note = [&](const std::string& name, const std::string& unit) {
            measured[std::string(vocabulary::family_of(name))] = unit;
        };
        for (const auto& m : group.newest.measurements) note(m.name, m.unit);
        for (const auto& [name, values] : group.values) note(name, values.unit);  // of older runs
    }
    for (const auto& name : named) measured.try_emplace(name, "");
    List items;
    for (const auto& known : vocabulary::quantities()) {
        const std::string name(known.name);
        if (measured.erase(name) > 0)
            items.push_back(item(name, std::string(known.unit), std::string(known.definition)));
    }
    for (const auto& [name, unit] : measured)
        items.push_back(
            item(name, unit, "Not described in this version of ranklab; the file's own unit is given."));
    return Object{{"items", items}};
}

Data environment_data(const PageInput& input) {
    const model::GroupedRuns& grouped = input.grouped();
    if (grouped.runs() == 0) return false;
    List same, different;
    std::size_t facts = 0;
    for (const auto& [fact, values] : grouped.facts()) {
        if (++facts > kMostFacts) break;
        if (values.size() == 1 && values.begin()->second == grouped.runs()) {
            same.push_back(Object{{"fact", cut(fact, 80)}, {"value", cut(values.begin()->first, 300)}});
        } else {
            different.push_back(different_data(fact, values));
        }
    }
    return Object{{"hosts", hosts_text(grouped)},
                  {"differs", !different.empty()},
                  {"different", different},
                  {"same", same}};
}

}  // namespace ranklab::report::page
