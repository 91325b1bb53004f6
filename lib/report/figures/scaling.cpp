// Speedup and efficiency over ranks, threads or workers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/numbers.hpp"
#include "report/figures/figure.hpp"
#include "report/frame/readable.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

using model::Curve;
using model::Group;
using model::Groups;
using model::Scaling;
using PointOf = std::function<Point(std::size_t group, double width, const Curve& curve)>;

constexpr std::size_t kMostCurves = 6;
constexpr double kLogarithmicFrom = 8;  // widest / narrowest

// From the baseline on: what a perfect machine would show. `power`: 1: grows as the ranks do, 0: stays.
Series ideal_of(const Curve& curve, const Point& base, int power, std::size_t colour) {
    constexpr int kPieces = 32;
    Series line{"ideal", Look::dashed, colour, {}};
    const double to = curve.widths.back();
    for (int i = 0; i <= kPieces; ++i) {
        const double x = base.x * std::pow(to / base.x, static_cast<double>(i) / kPieces);
        line.points.push_back({x, base.y * std::pow(x / base.x, power)});
    }
    return line;
}

Figure figure_of(Figure figure, const std::vector<Curve>& curves, const Groups& groups, int power,
                 const PointOf& point_of) {
    std::set<double> widths;
    Series rings{"oversubscribed", Look::marks, kMostCurves, {}};
    for (std::size_t i = 0; i < curves.size(); ++i) {
        Series series{curves[i].title, Look::points, i, {}};
        for (std::size_t at = 0; at < curves[i].groups.size(); ++at) {
            const std::size_t group = curves[i].groups[at];
            const Point point = point_of(group, curves[i].widths[at], curves[i]);
            widths.insert(point.x);
            if (groups.all[group].cores.oversubscribed()) rings.points.push_back(point);
            series.points.push_back(point);
        }
        if (!series.points.empty() && std::isfinite(series.points.front().y))
            figure.series.push_back(ideal_of(curves[i], series.points.front(), power, i));
        figure.series.push_back(std::move(series));
    }
    if (!rings.points.empty()) figure.series.push_back(std::move(rings));
    figure.x_tics.assign(widths.begin(), widths.end());
    figure.log_x = *widths.rbegin() > kLogarithmicFrom * *widths.begin();
    figure.log_y = figure.log_x && power != 0;
    return figure;
}

// The baseline over itself is 1 by definition; its own uncertainty shows in the others' intervals.
PointOf ratio_of(const Scaling& scaling, bool weak, bool efficiency) {
    return [&scaling, weak, efficiency](std::size_t group, double width, const Curve& curve) -> Point {
        if (group == curve.groups.front()) return {width, 1, {}};
        const auto& row = scaling.rows[group];
        const auto& found = efficiency ? (weak ? row.weak : row.strong).efficiency : row.speedup;
        return {width, found.ratio, found.ci};
    };
}

PointOf estimate_of(const Groups& groups, std::string_view measurement) {
    return [&groups, measurement](std::size_t group, double width, const Curve&) -> Point {
        const auto found = groups.estimate(groups.all[group], measurement);
        return {width, found.value, found.ci};
    };
}

// A row a point, with all that the figures show.
Frame table_of(const std::vector<Curve>& curves, const Groups& groups, const Scaling& scaling, bool weak,
               const std::string& over, std::string_view time) {
    Frame frame;
    frame.columns = {
        {.name = "series", .key = true},
        {.name = over, .key = true},
        {.name = "runs"},
        {.name = "cores", .head = scaling.unit + "s"},
        {.name = std::string(time), .unit = "s", .interval = true, .head = without_unit(time)},
        {.name = "speedup", .unit = "1", .interval = true},
        {.name = "efficiency", .unit = "1", .interval = true, .head = "efficiency per " + scaling.unit}};
    for (const auto& curve : curves)
        for (std::size_t i = 0; i < curve.groups.size(); ++i) {
            const Group& group = groups.all[curve.groups[i]];
            const auto found = groups.estimate(group, time);
            const auto ratio = [&](bool efficiency) -> Cell {
                if (i == 0) return "baseline";
                const Point point = ratio_of(scaling, weak, efficiency)(curve.groups[i], 0, curve);
                return {point.y, point.interval};
            };
            Row row{{curve.title, Cell(curve.widths[i]), Cell(static_cast<double>(group.runs.size())),
                     group.cores.known() ? Cell(static_cast<double>(group.cores.count)) : Cell("n/a"),
                     Cell(found.value, found.ci), weak ? Cell() : ratio(false), ratio(true)},
                    group.doubts};
            const auto& doubts = scaling.rows[curve.groups[i]].doubts;
            row.doubts.insert(row.doubts.end(), doubts.begin(), doubts.end());
            frame.rows.push_back(std::move(row));
        }
    frame.drop_empty_columns();
    std::set<std::size_t> bases;
    for (const auto& curve : curves)
        if (bases.insert(curve.groups.front()).second)
            frame.notes.push_back(curve.title + ": " + model::baseline_note(groups, curve.groups.front()));
    for (const auto& finding : scaling.findings) {
        const bool drawn = std::ranges::any_of(curves, [&](const Curve& curve) {
            return std::ranges::find(curve.groups, finding.row) != curve.groups.end();
        });
        if (drawn && scaling.rows[finding.row].is_weak() == weak) frame.notes.push_back(sentence(finding));
    }
    return frame;
}

std::vector<Curve> curves_of(const Groups& groups, const Scaling& scaling, bool weak,
                             const std::string& command) {
    auto curves = model::curves_of(groups, scaling, weak);
    std::erase_if(curves, [&](const Curve& curve) {
        return groups.all[curve.groups.front()].factor("command") != command;
    });
    if (curves.size() > kMostCurves) curves.resize(kMostCurves);
    return curves;
}

const char* intervals() {
    return "Points have 95 % intervals between runs, from three runs on; dashed: ideal, from the baseline "
           "on.";
}

Section training_section(const Source& source, bool weak) {
    const std::string kind = weak ? "weak" : "strong";
    const Scaling scaling = model::scaling_over(source.groups, "ranks");
    const auto curves = curves_of(source.groups, scaling, weak, "train");
    Section section{
        kind + "-scaling",
        weak ? "Weak scaling: each rank keeps its batch" : "Strong scaling: ranks share one batch",
        {},
        {}};
    if (curves.empty()) return section;
    const auto add = [&](const std::string& what, const std::string& label, const std::string& unit,
                         int power, const PointOf& point_of, const std::string& caption) {
        section.figures.push_back(figure_of({.name = kind + "_" + what,
                                             .title = label + ", " + kind + " scaling",
                                             .x_label = "ranks",
                                             .y_label = label,
                                             .unit = unit,
                                             .caption = caption},
                                            curves, source.groups, power, point_of));
    };
    if (!weak)
        add("speedup", "Speedup", "1", 1, ratio_of(scaling, weak, false),
            std::string("T(baseline) / T of a step. ") + intervals());
    add("efficiency", "Efficiency per " + scaling.unit, "1", 0, ratio_of(scaling, weak, true),
        std::string(weak ? "T(baseline) / T x work / cores." : "Speedup over the cores that it takes.") +
            " " + intervals());
    add("throughput", "Throughput [samples/s]", "samples/s", 1,
        estimate_of(source.groups, vocabulary::kThroughput),
        "Medians over runs with 95 % intervals from six runs on; dashed: ideal.");
    section.tables.push_back(table_of(curves, source.groups, scaling, weak, "ranks", vocabulary::kStepTime));
    return section;
}

// Speedup and efficiency of the same work over threads, ranks or workers.
Section same_work_section(const Source& source, const std::string& id, const std::string& heading,
                          const std::string& command, const std::string& over, std::string_view time) {
    Section section{id, heading, {}, {}};
    if (std::ranges::find(source.groups.keys, over) == source.groups.keys.end()) return section;
    const Scaling scaling = model::scaling_over(source.groups, over);
    auto curves = curves_of(source.groups, scaling, false, command);
    if (command == "io" && over == "ranks")  // worker processes have a section of their own
        std::erase_if(curves, [&](const Curve& curve) {
            return source.groups.all[curve.groups.front()].factor("strategy").starts_with("process-");
        });
    if (curves.empty()) return section;
    std::string name = id;
    std::ranges::replace(name, '-', '_');
    for (const bool efficiency : {false, true})
        section.figures.push_back(
            figure_of({.name = efficiency ? name + "_efficiency" : name,
                       .title = heading,
                       .x_label = over,
                       .y_label = efficiency ? "efficiency per " + scaling.unit : "speedup",
                       .unit = "1",
                       .caption = intervals()},
                      curves, source.groups, efficiency ? 0 : 1, ratio_of(scaling, false, efficiency)));
    section.tables.push_back(table_of(curves, source.groups, scaling, false, over, time));
    return section;
}

}  // namespace

std::vector<Section> scaling_sections(const Source& source) {
    return {
        training_section(source, true), training_section(source, false),
        same_work_section(source, "thread-scaling", "Training over compute threads of a rank", "train",
                          "threads", vocabulary::kStepTime),
        same_work_section(source, "io-scaling", "Writing over ranks", "io", "ranks", vocabulary::kJobTime),
        same_work_section(source, "worker-scaling", "Writing over worker processes", "io", "workers",
                          vocabulary::kJobTime)};
}

}  // namespace ranklab::report::figures
