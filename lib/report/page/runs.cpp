#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/model/selection.hpp"
#include "report/model/values.hpp"
#include "report/page/sections.hpp"

namespace ranklab::report::page {
namespace {

using figures::cut;
using results::Run;

constexpr std::size_t kMostDetailed = 16;

List measurements_of(const Run& run) {
    List rows;
    for (const auto& m : run.measurements) {
        List cells;
        for (const char* const field : {"n", "median", "ci95_low", "ci95_high", "p95", "min", "max"})
            cells.push_back(cell_data({figures::number_of(run, m, field)}));
        rows.emplace_back(named(m.name, m.unit)).set("cells", cells);
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

Data run_data(const model::Group& group, const std::string& title, bool open) {
    const Run& run = group.newest;
    return Object{{"anchor", figures::plain_name(run.id)},
                  {"title", cut(title, 200)},
                  {"ranks", model::counted(group.ranks, "rank")},
                  {"id", run.id},
                  {"open", open},
                  {"valid", run.valid},
                  {"measurements", measurements_of(run)},
                  {"exit_code", fmt::to_string(run.exit_code)},
                  {"argv", cut(run.argv, 1000)},
                  {"label", if_any(cut(run.label, 300))},
                  {"started", run.started_utc},
                  {"ranks_nodes", fmt::format("{}, {}", group.ranks, group.nodes)},
                  {"verified", cut(group.verified, 300)},
                  {"version", cut(run.version + " " + run.git_revision, 300)},
                  {"settings", settings_of(run)},
                  {"notes", notes_of(run)}};
}

}  // namespace

std::vector<const model::Group*> detailed_groups(const model::GroupedRuns& grouped) {
    return model::recent_groups(grouped, "", kMostDetailed);
}

Data run_anchor(const PageInput& input, const model::Group& group) {
    const auto shown = detailed_groups(input.grouped());
    if (std::ranges::find(shown, &group) == shown.end()) return false;
    return figures::plain_name(group.newest.id);
}

Data runs_data(const PageInput& input) {
    const auto groups = detailed_groups(input.grouped());
    if (groups.empty()) return false;
    const auto titles = model::group_titles(groups);
    List runs;
    for (std::size_t i = 0; i < groups.size(); ++i)
        runs.push_back(run_data(*groups[i], titles[i], groups.size() == 1));
    const std::size_t more = model::recent_groups(input.grouped(), "", SIZE_MAX).size() - groups.size();
    const auto& [choose, one_run] = std::tie(input.how_to.choose, input.how_to.one_run);
    const std::string how = choose + (one_run.empty() ? "" : fmt::format(", or see one: {} ID", one_run));
    return Object{{"runs", runs}, {"more", more_data(more, how)}};
}

}  // namespace ranklab::report::page
