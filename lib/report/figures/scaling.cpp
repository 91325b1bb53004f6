// Speedup and efficiency over ranks, threads or workers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "report/figures/figure.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

using model::Curve;
using model::Group;
using model::Groups;
using model::Scaling;

constexpr std::size_t kMostCurves = 6;
constexpr double kLogarithmicFrom = 8;  // widest / narrowest

// The line of a perfect machine from the baseline on. `power` 1: it grows as the ranks do, 0: it
// stays. It is straight, since an axis of what grows is logarithmic where that of the ranks is.
Series ideal_of(const Series& curve, int power) {
    const Point &base = curve.points.front(), &last = curve.points.back();
    return {"ideal",
            Look::dashed,
            curve.colour,
            {{base.x, base.y}, {last.x, base.y * std::pow(last.x / base.x, power)}}};
}

// Draws a column of the curves' table, which has their points one after the other.
Figure figure_of(Figure figure, const std::vector<Curve>& curves, const Frame& table,
                 const std::string& column, int power) {
    std::set<double> widths;
    Series rings{"oversubscribed", Look::marks, kMostCurves, {}};
    std::size_t row = 0;
    for (std::size_t i = 0; i < curves.size(); ++i) {
        Series series{curves[i].title, Look::points, i, {}};
        for (const double width : curves[i].widths) {
            const Cell& cell = table.at(row, column);
            const auto& caveats = table.rows[row++].caveats;
            series.points.push_back({width, cell.number, cell.interval});
            widths.insert(width);
            if (std::ranges::find(caveats, CaveatKind::oversubscribed, &Caveat::kind) !=
                caveats.end())
                rings.points.push_back(series.points.back());
        }
        if (std::isfinite(series.points.front().y))
            figure.series.push_back(ideal_of(series, power));
        figure.series.push_back(std::move(series));
    }
    if (!rings.points.empty()) figure.series.push_back(std::move(rings));
    figure.x_tics.assign(widths.begin(), widths.end());
    figure.log_x = *widths.rbegin() > kLogarithmicFrom * *widths.begin();
    figure.log_y = figure.log_x && power != 0;
    return figure;
}

// The kind of scaling, and what stays the same.
struct Kind {
    const char *id, *heading;
    const char *rate, *efficiency;  // the names of its figures
    const char *command, *over;
    std::string_view time;
    bool weak = false;
};
constexpr Kind kKinds[] = {
    {"weak-scaling", "Weak scaling: each rank keeps its batch", "weak_throughput",
     "weak_efficiency", "train", "ranks", vocabulary::kStepTime, true},
    {"strong-scaling", "Strong scaling: ranks share one batch", "strong_speedup",
     "strong_efficiency", "train", "ranks", vocabulary::kStepTime},
    {"thread-scaling", "Training over compute threads of a rank", "thread_scaling",
     "thread_scaling_efficiency", "train", "threads", vocabulary::kStepTime},
    {"io-scaling", "Writing over ranks", "io_scaling", "io_scaling_efficiency", "io", "ranks",
     vocabulary::kJobTime},
    {"worker-scaling", "Writing over worker processes", "worker_scaling",
     "worker_scaling_efficiency", "io", "workers", vocabulary::kJobTime}};

// The rate over the baseline's, w2/w1 T1/T2 (w: the work over the baseline's); per doubling: over
// that of the point before, as if the cores or GPUs had doubled. Nothing where they are not more.
Cell rate_over(const Groups& groups, const Scaling& scaling, const Curve& curve, bool weak,
               std::size_t i, bool per_doubling) {
    if (i == 0) return per_doubling ? Cell() : Cell(1);
    const std::size_t from = curve.groups[per_doubling ? i - 1 : 0], to = curve.groups[i];
    const auto fewer = groups.all[from].cores.count, more = groups.all[to].cores.count;
    if (per_doubling && (fewer == 0 || more <= fewer)) return {};
    const auto [ratio, ci] = model::speedup_of(groups, groups.all[from], groups.all[to]);
    const double work = weak ? scaling.rows[to].weak.work / scaling.rows[from].weak.work : 1,
                 power = per_doubling ? 1 / std::log2(base::real(more) / base::real(fewer)) : 1;
    const auto f = [&](double x) { return std::pow(x * work, power); };
    return {f(ratio), {f(ci.low), f(ci.high)}};
}

// A row a point, with all that the figures show. The baseline over itself is 1 by definition; its
// own uncertainty shows in the others' intervals.
Frame table_of(const std::vector<Curve>& curves, const Source& source, const Scaling& scaling,
               const Kind& kind) {
    const Groups& groups = source.groups;
    Frame frame{.columns = {{.name = "series", .key = true}, {.name = kind.over, .key = true}}};
    const auto put = [&](std::string_view name, const char* unit, const std::string& head,
                         const Cell& cell) {
        frame.put(frame.add_column({std::string(name), unit, false, *unit != 0, head}), cell);
    };
    for (const auto& curve : curves)
        for (std::size_t i = 0; i < curve.groups.size(); ++i) {
            const Group& group = groups.all[curve.groups[i]];
            const auto& scaled = scaling.rows[curve.groups[i]];
            const auto& [efficiency, ci] = (kind.weak ? scaled.weak : scaled.strong).efficiency;
            const auto estimate = [&](std::string_view name) -> Cell {
                const auto found = groups.estimate(group, name);
                return {found.value, found.ci};
            };
            auto& caveats =
                frame.rows.emplace_back(Row{{curve.title, Cell(curve.widths[i])}, group.caveats})
                    .caveats;
            caveats.insert(caveats.end(), scaled.caveats.begin(), scaled.caveats.end());
            put("nodes", "", "", model::node_count(source.newest(group)));
            put("runs", "", "", group.runs.size());
            put("cores", "", scaling.unit + "s",
                group.cores.known() ? Cell(group.cores.count) : Cell("n/a"));
            put(kind.time, "s", without_unit(kind.time), estimate(kind.time));
            if (kind.weak)
                put(vocabulary::kThroughput, "samples/s", "throughput",
                    estimate(vocabulary::kThroughput));
            put("speedup", "1", "", rate_over(groups, scaling, curve, kind.weak, i, false));
            put("efficiency", "1", "efficiency over the base, per " + scaling.unit,
                i == 0 ? Cell(1) : Cell(efficiency, ci));
            put("speedup_per_doubling", "1", "speedup per doubling",
                rate_over(groups, scaling, curve, kind.weak, i, true));
        }
    frame.drop_empty_columns();
    frame.notes.emplace_back(
        "speedup: of the work per second; per doubling: over the next smaller scale, as if the "
        "cores or GPUs had doubled (ideal: 2)");
    for (const auto& curve : curves)
        frame.notes.push_back(curve.title + ": " +
                              model::baseline_note(groups, curve.groups.front()));
    for (const auto& finding : scaling.findings)
        if (groups.all[finding.row].factor("command") == kind.command &&
            scaling.rows[finding.row].is_weak() == kind.weak)
            frame.notes.push_back(sentence(finding));
    return frame;
}

std::vector<Curve> curves_of(const Groups& groups, const Scaling& scaling, const Kind& kind) {
    auto curves = model::curves_of(groups, scaling, kind.weak);
    std::erase_if(curves, [&](const Curve& curve) {
        const Group& base = groups.all[curve.groups.front()];
        const bool by_workers =
            base.factor("strategy").starts_with("process-");  // a section of their own
        return base.factor("command") != kind.command || (by_workers && scaling.over == "ranks");
    });
    if (curves.size() > kMostCurves) curves.resize(kMostCurves);
    return curves;
}

Section section_of(const Source& source, const Kind& kind) {
    Section section{kind.id, kind.heading, {}, {}};
    const auto& keys = source.groups.keys;
    if (std::ranges::find(keys, kind.over) == keys.end()) return section;
    const Scaling scaling = model::scaling_over(source.groups, kind.over);
    const auto curves = curves_of(source.groups, scaling, kind);
    if (curves.empty()) return section;
    section.tables.push_back(table_of(curves, source, scaling, kind));
    const auto add = [&](const char* name, std::string_view column, const std::string& label,
                         const std::string& unit, int power) {
        Figure figure = figure_of(
            {.name = name,
             .title = fmt::format("{} ({})", kind.heading, label),
             .x_label = kind.over,
             .y_label = label,
             .unit = unit,
             .caption = "Medians with 95 % intervals between runs: those of ratios from three runs "
                        "a point on, of others from six; dashed: ideal, from the baseline on."},
            curves, section.tables.front(), std::string(column), power);
        if (!figure.empty()) section.figures.push_back(std::move(figure));
    };
    if (kind.weak)
        add(kind.rate, vocabulary::kThroughput, "throughput [samples/s]", "samples/s", 1);
    else
        add(kind.rate, "speedup", "speedup", "1", 1);
    add(kind.efficiency, "efficiency", "efficiency per " + scaling.unit, "1", 0);
    return section;
}

}  // namespace

std::vector<Section> scaling_sections(const Source& source) {
    std::vector<Section> sections;
    for (const Kind& kind : kKinds) sections.push_back(section_of(source, kind));
    return sections;
}

std::vector<Section> scaling_over_ranks(const Source& source) {
    auto sections = scaling_sections(source);
    std::erase_if(sections, [](const Section& one) {
        return one.tables.empty() || (one.id != "weak-scaling" && one.id != "strong-scaling");
    });
    if (sections.empty())
        throw base::OptionError(
            "these runs have no scaling over ranks; ranklab sweep train --ranks 1,2,4 measures it");
    return sections;
}

}  // namespace ranklab::report::figures
