#include <fmt/format.h>

#include "report/page/sections.hpp"

namespace ranklab::report::page {
namespace {

using figures::cut;

constexpr std::size_t kMostFacts = 400, kMostHosts = 20;

using Values = std::map<std::string, std::size_t>;  // value -> how many runs have it

Data different_data(const std::string& fact, const Values& values) {
    List rows;
    for (const auto& [value, runs] : values)
        rows.push_back(Object{{"value", value.empty() ? "(empty)" : cut(value, 160)},
                              {"runs", figures::counted(runs, "run")},
                              {"last", rows.size() + 1 == values.size()}});
    return Object{{"fact", cut(fact, 80)}, {"values", rows}};
}

std::string hosts_text(const model::GroupedRuns& grouped) {
    std::string text;
    std::size_t shown = 0;
    for (const auto& [host, runs] : grouped.hosts())
        if (++shown <= kMostHosts) text += (text.empty() ? "" : ", ") + cut(host, 80);
    return shown > kMostHosts ? text + fmt::format(" … and {} more", shown - kMostHosts) : text;
}

}  // namespace

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
