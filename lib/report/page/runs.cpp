#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/model/selection.hpp"
#include "report/model/values.hpp"
#include "report/page/sections.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using figures::cut;
using results::Run;

constexpr std::size_t kMostGroups = 60;  // a run is some 50 kB of page
constexpr std::size_t kMostRuns = 80;
constexpr std::size_t kMostOfGroup = 16;

// But for those of single messages, which their own tables have.
List measurements_of(const Run& run) {
    List rows;
    for (const auto& m : run.measurements) {
        if (vocabulary::family_of(m.name) != m.name) continue;
        const std::string unit = figures::unit_for_reading(m.unit);
        List cells;
        for (const char* const field : {"n", "median", "ci95_low", "ci95_high", "p95", "min", "max"})
            cells.push_back(cell_data(figures::for_reading({figures::number_of(run, m, field)},
                                                           field == std::string("n") ? "1" : m.unit)));
        rows.emplace_back(named(m.name, unit)).set("cells", cells);
    }
    return rows;
}

List settings_of(const Run& run) {
    List settings;
    for (const auto& [key, value, number] : run.config)
        if (!value.empty()) settings.push_back(Object{{"key", cut(key, 60)}, {"value", cut(value, 120)}});
    return settings;
}

List notes_of(const Run& run) {
    List notes;
    if (const auto why = model::value_of(run, "communication.no_overlap"); !why.empty())
        notes.push_back(Object{{"what", "overlap"}, {"text", cut("n/a: " + why, 600)}});
    for (const auto& warning : run.warnings)
        notes.push_back(Object{{"what", "warning"}, {"text", cut(warning, 600)}});
    return notes;
}

Object run_data(const model::Group& group, const Run& run, const std::string& verified) {
    return Object{{"anchor", figures::plain_name(run.id)},
                  {"id", run.id},
                  {"valid", run.valid},
                  {"measurements", measurements_of(run)},
                  {"exit_code", fmt::to_string(run.exit_code)},
                  {"cut_short", if_any(run.cut_short())},
                  {"argv", cut(run.argv, 1000)},
                  {"label", if_any(cut(run.label, 300))},
                  {"started", run.started_utc},
                  {"ranks_nodes", fmt::format("{}, {}", group.ranks, group.nodes)},
                  {"verified", cut(verified, 300)},
                  {"version", cut(run.version + " " + run.git_revision, 300)},
                  {"settings", settings_of(run)},
                  {"notes", notes_of(run)}};
}

// The newest whole, the others folded below it.
Data group_data(const PageInput& input, const DetailedGroup& detailed, const std::string& title, bool open) {
    const model::Group& group = *detailed.group;
    Object data = run_data(group, group.newest, group.verified);
    List siblings, others;
    for (const auto& id : detailed.runs) {
        Object link = run_link(input, id, id);
        link.insert({"last", id == detailed.runs.back()});
        siblings.push_back(std::move(link));
        if (id == group.newest.id) continue;
        const Run run = input.summaries(id);
        others.push_back(run_data(group, run, run.verified()));
    }
    const std::size_t hidden = group.runs.size() - std::min(group.runs.size(), detailed.runs.size());
    data.insert({{"title", cut(title, 200)},
                 {"ranks", model::counted(group.ranks, "rank")},
                 {"open", open},
                 {"has_siblings", group.runs.size() > 1},
                 {"count", fmt::to_string(group.runs.size())},
                 {"siblings", siblings},
                 {"hidden", if_any(hidden == 0 ? "" : fmt::to_string(hidden))},
                 {"others", others}});
    return data;
}

}  // namespace

std::vector<DetailedGroup> detailed_groups(const model::GroupedRuns& grouped) {
    std::vector<DetailedGroup> detailed;
    for (const model::Group* group : model::recent_groups(grouped, "", kMostGroups))
        detailed.push_back({group, {group->newest.id}});
    std::size_t room = kMostRuns - std::min(kMostRuns, detailed.size());
    for (auto& [group, runs] : detailed) {
        for (auto id = group->runs.rbegin(); id != group->runs.rend(); ++id) {
            if (*id == group->newest.id) continue;
            if (room == 0 || runs.size() == kMostOfGroup) break;
            runs.push_back(*id);
            --room;
        }
    }
    return detailed;
}

Data run_anchor(const PageInput& input, const std::string& id) {
    return input.shown_whole.contains(id) ? Data(figures::plain_name(id)) : Data(false);
}

Object run_link(const PageInput& input, const std::string& id, const std::string& title) {
    return {{"link", run_anchor(input, id)}, {"title", title}};
}

Data runs_data(const PageInput& input) {
    const auto detailed = detailed_groups(input.grouped());
    if (detailed.empty()) return false;
    std::vector<const model::Group*> groups;
    for (const auto& one : detailed) groups.push_back(one.group);
    const auto titles = model::group_titles(groups);
    List all;
    for (std::size_t i = 0; i < detailed.size(); ++i)
        all.push_back(group_data(input, detailed[i], titles[i], detailed.size() == 1));
    const std::size_t more = model::recent_groups(input.grouped(), "", SIZE_MAX).size() - groups.size();
    const auto& [choose, one_run] = std::tie(input.how_to.choose, input.how_to.one_run);
    const std::string how = choose + (one_run.empty() ? "" : fmt::format(", or see one: {} ID", one_run));
    return Object{{"groups", all}, {"more", more_data(more, how)}};
}

}  // namespace ranklab::report::page
