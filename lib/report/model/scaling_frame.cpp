#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {

std::string baseline_note(const Groups& groups, std::size_t base) {
    const Group& group = groups.all[base];
    const std::string time = common_time(groups, group, group);
    const Estimate found = groups.estimate(group, time);
    const std::string cores =
        group.cores.known() ? ", " + counted(group.cores.count, group.cores.unit()) : "";
    return fmt::format("baseline: {}, {} {}{}{}", groups.name(group), without_unit(time),
                       readable(found.value, found.unit), cores,
                       group.factor("mode") == "single" ? ", single-device code" : "");
}

namespace {

std::vector<Column> ratio_columns(const Scaling& scaling) {
    const bool strong = scaling.has_strong(), weak = scaling.has_weak(),
               per = !scaling.over.empty();
    std::vector<Column> columns;
    const auto add = [&](const char* name, const std::string& head) {
        columns.push_back({.name = name, .unit = "1", .interval = true, .head = head});
    };
    if (per && (strong || weak)) columns.push_back({.name = "cores", .head = scaling.unit + "s"});
    if (strong) add("speedup", "");
    if (strong && per) add("efficiency", "efficiency/" + scaling.unit);
    if (weak) add("weak_efficiency", "weak efficiency/" + scaling.unit);
    return columns;
}

// A row that is the baseline of others has a weak efficiency only over a baseline of its own.
Cell ratio_cell(const std::string& column, const Group& group, const ScalingRow& row) {
    if (column == "cores")
        return group.cores.known() ? Cell(static_cast<double>(group.cores.count)) : "n/a";
    const bool weak = column == "weak_efficiency";
    const auto& [ratio, ci] =
        column == "speedup" ? row.speedup : (weak ? row.weak : row.strong).efficiency;
    if (std::isnan(ratio) || (weak && row.is_baseline && !row.is_weak()))
        return row.is_baseline ? "baseline" : "";
    return {ratio, ci};
}

// "" of a count, too.
std::string unit_of(const Groups& groups, const std::string& measurement) {
    const auto* known = vocabulary::find_quantity(measurement);
    for (const Group& group : groups.all)
        if (const Estimate found = groups.estimate(group, measurement); found.runs > 0)
            return known != nullptr && known->kind == vocabulary::Kind::count && found.unit == "1"
                       ? ""
                       : found.unit;
    return "";
}

void add_notes(Frame& frame, const Groups& groups, const Scaling& scaling) {
    std::set<std::size_t> bases;
    for (const auto& row : scaling.rows)
        for (const std::size_t base : {row.strong.baseline, row.weak.baseline})
            if (base != kNoBaseline && bases.insert(base).second)
                frame.notes.push_back(baseline_note(groups, base));
    if (scaling.has_strong())
        frame.notes.push_back(
            fmt::format("speedup = T(baseline) / T; efficiency = speedup / ({0}s / baseline {0}s)",
                        scaling.unit));
    if (scaling.has_weak())
        frame.notes.push_back(
            fmt::format("weak efficiency = T(baseline) / T x (global batch / baseline's) / ({0}s / "
                        "baseline {0}s)",
                        scaling.unit));
    if (scaling.has_strong() || scaling.has_weak())
        frame.notes.emplace_back(
            "intervals of ratios: Welch's t-test between runs, from 3 a row on");
    frame.notes.emplace_back(
        "intervals of values: order statistics over 6 runs or more, of a single run over its own "
        "repetitions");
    if (groups.all.size() > kMostScaled)
        frame.notes.push_back(
            fmt::format("more than {} rows: no speedup and no verdict", kMostScaled));
    if (!groups.apart.empty())
        frame.notes.push_back(fmt::format("kept apart by {}; --ignore KEY pools them",
                                          base::join(groups.apart, ", ")));
    if (groups.without > 0)
        frame.notes.push_back(
            fmt::format("{} without these measurements left out; --measure NAME asks for others",
                        counted(groups.without, "run")));
}

}  // namespace

Frame frame_of(const Groups& groups, const Scaling& scaling) {
    Frame frame;
    const auto ratios = ratio_columns(scaling);
    const auto measurements = groups.measurements();
    for (const auto& key : groups.keys) frame.columns.push_back({.name = key, .key = true});
    frame.columns.push_back({.name = "runs"});
    frame.columns.insert(frame.columns.end(), ratios.begin(), ratios.end());
    for (const auto& name : measurements)
        frame.columns.push_back({.name = name,
                                 .unit = unit_of(groups, name),
                                 .interval = true,
                                 .head = without_unit(name)});
    for (std::size_t i = 0; i < groups.all.size(); ++i) {
        const Group& group = groups.all[i];
        const ScalingRow& row = scaling.rows[i];
        Row shown{{group.key.begin(), group.key.end()}, group.caveats};
        shown.caveats.insert(shown.caveats.end(), row.caveats.begin(), row.caveats.end());
        shown.cells.emplace_back(static_cast<double>(group.runs.size()));
        for (const auto& column : ratios)
            shown.cells.push_back(ratio_cell(column.name, group, row));
        for (const auto& name : measurements) {
            const Estimate found = groups.estimate(group, name);
            shown.cells.push_back(found.runs == 0 ? Cell() : Cell(found.value, found.ci));
        }
        frame.rows.push_back(std::move(shown));
    }
    add_notes(frame, groups, scaling);
    return frame;
}

}  // namespace ranklab::report::model
