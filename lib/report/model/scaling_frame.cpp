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

Cell ratio_cell(const stats::RatioEstimate& estimate, bool is_baseline) {
    if (!std::isnan(estimate.ratio)) return {estimate.ratio, estimate.ci};
    return is_baseline ? "baseline" : "";
}

void add_notes(Frame& frame, const Groups& groups, const Scaling& scaling) {
    std::set<std::size_t> bases;
    for (const auto& row : scaling.rows)
        for (const std::size_t base : {row.strong.baseline, row.weak.baseline})
            if (base != kNoBaseline && bases.insert(base).second)
                frame.notes.push_back(baseline_note(groups, base));
    if (scaling.has_strong())
        frame.notes.push_back(fmt::format(
            "speedup = T(baseline) / T; efficiency = speedup / ({0}s / baseline {0}s)", scaling.unit));
    if (scaling.has_weak())
        frame.notes.push_back(
            fmt::format("weak efficiency = T(baseline) / T x (global batch / baseline's) / ({0}s / "
                        "baseline {0}s)",
                        scaling.unit));
    if (scaling.has_strong() || scaling.has_weak())
        frame.notes.emplace_back("intervals of ratios: Welch's t-test between runs, from 3 a row on");
    frame.notes.emplace_back(
        "intervals of values: order statistics over 6 runs or more, of a single run over its own "
        "repetitions");
    if (groups.all.size() > kMostScaled)
        frame.notes.push_back(fmt::format("more than {} rows: no speedup and no verdict", kMostScaled));
    if (!groups.apart.empty())
        frame.notes.push_back(
            fmt::format("kept apart by {}; --allow KEY pools them", base::join(groups.apart, ", ")));
    if (groups.without > 0)
        frame.notes.push_back(
            fmt::format("{} without these measurements left out; --measure NAME asks for others",
                        counted(groups.without, "run")));
}

}  // namespace

Frame frame_of(const Groups& groups, const Scaling& scaling) {
    Frame frame;
    const bool strong = scaling.has_strong(), weak = scaling.has_weak(), per = !scaling.over.empty();
    for (const auto& key : groups.keys) frame.columns.push_back({.name = key, .key = true});
    frame.columns.push_back({.name = "runs"});
    if (per && (strong || weak)) frame.columns.push_back({.name = "cores", .head = scaling.unit + "s"});
    if (strong) frame.columns.push_back({.name = "speedup", .unit = "1", .interval = true});
    if (strong && per)
        frame.columns.push_back(
            {.name = "efficiency", .unit = "1", .interval = true, .head = "efficiency/" + scaling.unit});
    if (weak)
        frame.columns.push_back({.name = "weak_efficiency",
                                 .unit = "1",
                                 .interval = true,
                                 .head = "weak efficiency/" + scaling.unit});
    const auto measurements = groups.measurements();
    for (const auto& name : measurements) {
        frame.columns.push_back({.name = name, .interval = true, .head = without_unit(name)});
    }
    for (std::size_t i = 0; i < groups.all.size(); ++i) {
        const Group& group = groups.all[i];
        const ScalingRow& row = scaling.rows[i];
        Row shown{{group.key.begin(), group.key.end()}, group.doubts};
        shown.doubts.insert(shown.doubts.end(), row.doubts.begin(), row.doubts.end());
        shown.cells.emplace_back(static_cast<double>(group.runs.size()));
        if (per && (strong || weak))
            shown.cells.push_back(group.cores.known() ? Cell(static_cast<double>(group.cores.count))
                                                      : Cell("n/a"));
        if (strong) shown.cells.push_back(ratio_cell(row.speedup, row.is_baseline));
        if (strong && per) shown.cells.push_back(ratio_cell(row.strong.efficiency, row.is_baseline));
        if (weak)
            shown.cells.push_back(
                ratio_cell(row.is_weak() || !row.is_baseline ? row.weak.efficiency : stats::RatioEstimate{},
                           row.is_baseline));
        for (const auto& name : measurements) {
            const Estimate found = groups.estimate(group, name);
            const auto* known = vocabulary::find_quantity(name);
            const bool counts =
                known != nullptr && known->kind == vocabulary::Kind::count && found.unit == "1";
            if (found.runs > 0 && !counts) frame.columns[shown.cells.size()].unit = found.unit;
            shown.cells.push_back(found.runs == 0 ? Cell() : Cell(found.value, found.ci));
        }
        frame.rows.push_back(std::move(shown));
    }
    add_notes(frame, groups, scaling);
    return frame;
}

}  // namespace ranklab::report::model
