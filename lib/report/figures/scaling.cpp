#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "report/figures/figure.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/scaling.hpp"
#include "report/model/series.hpp"
#include "report/model/storage_place.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::figures {
namespace {

using model::Series;
using model::SeriesPoint;
using stats::Scaling;
using AllSeries = std::vector<Series>;
using PointOf = std::function<ChartPoint(const Series&, const SeriesPoint&)>;

constexpr double kLogarithmicFrom = 8;  // largest / smallest: further down a linear axis nothing can be read
constexpr std::size_t kNeutral = model::kMostSeries;  // the colour of what is no series'
static_assert(kNeutral < kColours.size());

// From the base at `from` on: what a perfect machine would show.
template <class Ideal>
ChartSeries ideal_line(const char* name, double from, double to, std::size_t colour, Ideal ideal) {
    ChartSeries line{name, Look::dashed, colour, {}};
    constexpr int kPieces = 32;
    for (int i = 0; i <= kPieces; ++i) {
        const double ranks = from * std::pow(to / from, static_cast<double>(i) / kPieces);
        line.points.push_back({ranks, ideal(ranks / from)});
    }
    return line;
}

const char* word(Scaling scaling) {
    return scaling == Scaling::weak ? "weak" : "strong";
}

std::string what_is_kept(Scaling scaling) {
    return scaling == Scaling::weak ? "Weak: the work grows with the ranks." : "Strong: the work stays.";
}

// Each base once: variants of how ranks work together share theirs.
struct Base {
    const Series* series = nullptr;  // the first that it is the base of
    std::size_t colour = 0;          // its series', or the neutral one where it is the single-device code
    std::string of;                  // the series that it is the base of; "" where there is no other base
    bool is_single = false;
};

std::vector<Base> bases_of(const AllSeries& all) {
    std::vector<Base> bases;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto known = std::ranges::find_if(
            bases, [&](const Base& base) { return &base.series->base() == &all[i].base(); });
        const bool is_single = all[i].has_single_device_base();
        if (known != bases.end()) {
            known->of += " and of " + all[i].title;
        } else {
            bases.push_back(
                {&all[i], is_single && all.size() > 1 ? kNeutral : i, " of " + all[i].title, is_single});
        }
    }
    if (bases.size() == 1) bases.front().of.clear();
    return bases;
}

// A committee that reads the plot has to know it.
std::string disturbed_runs(const AllSeries& all) {
    std::set<const model::Group*> groups;
    for (const auto& series : all)
        for (const auto& point : series.points) groups.insert(point.group);
    std::size_t disturbed = 0, runs = 0;
    for (const auto* group : groups) {
        disturbed += group->disturbed;
        runs += group->runs.size();
    }
    return disturbed == 0 ? ""
                          : fmt::format(" {} of {} were disturbed by others on their hosts.", disturbed,
                                        model::counted(runs, "run"));
}

Words bases_words(const AllSeries& all, std::string_view name) {
    Words words;
    for (const auto& base : bases_of(all)) {
        const SeriesPoint& point = base.series->points.front();
        const auto* m = point.group->newest.find(name);
        words.emplace_back(fmt::format(" Base{}: ", cut(base.of, 300)));
        append(words, estimate_of(*point.group, name));
        words.emplace_back(
            fmt::format(" {} at {}{}.", m == nullptr ? "" : cut(m->unit, 20),
                        model::counted(static_cast<std::size_t>(point.width), base.series->over),
                        base.is_single ? ", single-device code" : ""));
    }
    for (const auto& series : all)
        if (!series.differing.empty())
            words.emplace_back(fmt::format(" Not the same at all points of {}: {}.", cut(series.title, 120),
                                           cut(series.differing, 200)));
    std::set<std::string> crowds;
    for (const auto& series : all)
        for (const auto& point : series.points)
            if (const auto crowd = point.group->cores.oversubscribed(); !crowd.empty()) crowds.insert(crowd);
    const auto disturbed = disturbed_runs(all);
    if (!disturbed.empty()) words.push_back(strong(disturbed));
    if (!crowds.empty())
        words.push_back(
            strong(fmt::format(" Oversubscribed where a ring is: {}.", model::some_of(crowds, 4))));
    return words;
}

std::string doubts_of(const Chart& efficiency) {
    std::size_t above = 0;
    efficiency.visit([&](const ChartPoint& point) {
        if (model::too_efficient({point.y, point.interval})) ++above;
    });
    return above == 0 ? ""
                      : fmt::format(" {} above {}: the base there was slow, or is other work; look at both.",
                                    model::counted(above, "point"), model::kMostEfficiency);
}

// A ring about each point at which more wants to compute than can at once.
void mark_oversubscribed(Chart& chart) {
    ChartSeries rings{kOversubscribed, Look::marks, kNeutral, {}};
    chart.visit([&](const ChartPoint& point) {
        if (point.crowded) rings.points.push_back(point);
    });
    if (!rings.points.empty()) chart.series.push_back(std::move(rings));
}

// Points over ranks or workers. Where the base is the single-device code it is no point of the series: it has
// a mark of its own. `power`: how the ideal grows with the ranks (1: as they do, 0: not at all, -1: falls as
// they grow). Axes are such that it is straight, or it would pass for a finding.
void draw_over_widths(Chart& chart, const AllSeries& all, const char* ideal, int power,
                      const PointOf& value_of) {
    const auto point_of = [&](const Series& series, const SeriesPoint& at) {
        ChartPoint point = value_of(series, at);
        point.crowded = !at.group->cores.oversubscribed().empty();
        return point;
    };
    std::set<double> widths;
    for (const auto& series : all)
        for (const auto& point : series.points) widths.insert(point.width);
    chart.x_tics.assign(widths.begin(), widths.end());
    chart.log_x = power < 0 || *widths.rbegin() > kLogarithmicFrom * *widths.begin();
    chart.log_y = chart.log_x && power != 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<ChartPoint> points;
        for (const auto& point : all[i].points) points.push_back(point_of(all[i], point));
        if (all[i].has_single_device_base()) points.erase(points.begin());
        chart.series.push_back({all[i].title, Look::points, i, std::move(points)});
    }
    for (const auto& base : bases_of(all)) {
        const ChartPoint point = point_of(*base.series, base.series->points.front());
        if (base.is_single)
            chart.series.push_back(
                {"base" + base.of + ": single-device code", Look::marks, base.colour, {point}});
        chart.series.push_back(ideal_line(ideal, point.x, *widths.rbegin(), base.colour,
                                          [&](double times) { return point.y * std::pow(times, power); }));
    }
    mark_oversubscribed(chart);
}

Figure curve(const AllSeries& all, Scaling scaling, std::string_view measurement, const std::string& what,
             const std::string& label, int power) {
    Chart chart{.name = fmt::format("{}_{}", word(scaling), what),
                .title = fmt::format("{}, {} scaling", label.substr(0, label.find(" [")), word(scaling)),
                .x_label = "ranks",
                .y_label = label,
                .y_seconds = power <= 0};
    draw_over_widths(chart, all, "ideal", power, [&](const Series&, const SeriesPoint& point) {
        return estimate_point(point.width, *point.group, measurement);
    });
    Words caption{what_is_kept(scaling) + " Points: medians with 95 % intervals of ", definition(measurement),
                  "; dashed: ideal, from the base on."};
    append(caption, bases_words(all, measurement));
    return {chart, caption};
}

// The base over itself is 1 by definition; its own uncertainty shows in the others' intervals.
ChartPoint base_point(double width) {
    return {width, 1, {}, {"1 (base)"}};
}

std::string times_of(const Series& series, const SeriesPoint& point, const model::TimesOfBoth& both,
                     std::string_view time, const stats::Interval& ci) {
    const std::string those = both.within_runs ? "" : "the runs like ";
    return fmt::format("T = median {} of {}run {} and {}run {}; {}", time, those, series.base().newest.id,
                       those, point.group->newest.id,
                       both.interval_over(ci, time == vocabulary::kStepTime ? "steps" : "repetitions"));
}

// The base's time over the point's, times `factor`: how much more work a step did.
ChartPoint scaled_point(const Series& series, const SeriesPoint& point, std::string_view time, double factor,
                        model::Ratios& ratios) {
    const double from = series.points.front().width;
    if (point.group == &series.base()) return base_point(point.width);
    const auto both = ratios.of(time, series.base(), *point.group);
    const auto found = both.speedup();
    const stats::Interval ci{factor * found.ci.low, factor * found.ci.high};
    const std::string formula =
        fmt::format("{}T({}) / T({}), {}", factor == 1 ? "" : fmt::format("{:.6g} x ", factor), from,
                    point.width, times_of(series, point, both, time, found.ci));
    return {point.width, factor * found.ratio, ci, derived_with_interval(factor * found.ratio, ci, formula)};
}

// Per core, or GPU; no point where one of both is not known.
ChartPoint efficiency_point(const Series& series, const SeriesPoint& point, std::string_view time,
                            Scaling scaling, model::Ratios& ratios) {
    const double from = series.points.front().width;
    if (point.group == &series.base()) return base_point(point.width);
    const auto &its = series.base().cores.common(), &own = point.group->cores.common();
    if (const auto why = model::why_no_efficiency(its, own); !why.empty())
        return {point.width, stats::kNone, {}, {Word(Word::Kind::none, "n/a: " + why)}};
    const auto both = ratios.of(time, series.base(), *point.group);
    const double work = scaling == Scaling::weak ? point.width / from : 1;
    const auto found = both.efficiency(work, its, own);
    const std::string more = scaling == Scaling::weak ? fmt::format("{} x ", work) : "";
    return {point.width, found.ratio, found.ci,
            derived_with_interval(found.ratio, found.ci,
                                  fmt::format("{}T({}) / T({}) / ({} / {}), {}", more, from, point.width,
                                              model::counted(own.count, own.unit()), its.count,
                                              times_of(series, point, both, time, found.ci)))};
}

Figure efficiency(const AllSeries& all, Scaling scaling, const Source& source) {
    Chart chart{.name = fmt::format("{}_efficiency", word(scaling)),
                .title = fmt::format("Parallel efficiency, {} scaling", word(scaling)),
                .x_label = "ranks",
                .y_label = "efficiency per core or GPU"};
    model::Ratios ratios(source.load);
    draw_over_widths(chart, all, "ideal", 0, [&](const Series& series, const SeriesPoint& point) {
        return efficiency_point(series, point, vocabulary::kStepTime, scaling, ratios);
    });
    const char* const formula = scaling == Scaling::weak
                                    ? "(p / p_base) × T(base) / T(p) / (cores / base cores)"
                                    : "T(base) / T(p) / (cores / base cores)";
    Words caption{fmt::format("{} Efficiency = {}, T = median ", what_is_kept(scaling), formula),
                  definition(vocabulary::kStepTime),
                  ", p = ranks, cores = compute threads of all ranks, at most their cores (CPUs where the "
                  "file does not tell cores), or their GPUs; 95 "
                  "% intervals by "
                  "bootstrap over runs, or over the steps of single ones; none below six of them."};
    if (const auto doubts = doubts_of(chart); !doubts.empty()) caption.push_back(strong(doubts));
    append(caption, bases_words(all, vocabulary::kStepTime));
    return {chart, caption};
}

// Where the files of its points lay, each place once.
std::string place_of(const Series& series) {
    std::set<std::string> places;
    for (const auto& point : series.points) {
        model::StoragePlace place = model::storage_place(point.group->newest);
        place.cache.clear();  // these are times of writing
        places.insert(model::place_text(place));
    }
    return base::join({places.begin(), places.end()}, "; ");
}

double growth_of(const Series& series, const SeriesPoint& point) {
    return point.width / series.points.front().width;
}

// The base's time over each point's, and what it is over.
Figure time_ratios(Chart chart, const AllSeries& all, std::string_view time, const std::string& over,
                   model::Ratios& ratios) {
    draw_over_widths(chart, all, "linear", 1, [&](const Series& series, const SeriesPoint& point) {
        return scaled_point(series, point, time, 1, ratios);
    });
    Words caption{"Ratio of median ", definition(time), over};
    append(caption, bases_words(all, time));
    return {chart, caption};
}

Figure speedup(const AllSeries& all, Scaling scaling, const Source& source) {
    const bool weak = scaling == Scaling::weak;
    Chart chart{.name = fmt::format("{}_speedup", word(scaling)),
                .title = fmt::format("Speedup, {} scaling", word(scaling)),
                .x_label = "ranks",
                .y_label = "speedup"};
    model::Ratios ratios(source.load);
    draw_over_widths(chart, all, "ideal", 1, [&](const Series& series, const SeriesPoint& point) {
        return scaled_point(series, point, vocabulary::kStepTime, weak ? growth_of(series, point) : 1,
                            ratios);
    });
    Words caption{what_is_kept(scaling) +
                      (weak ? " Speedup = p / p_base × T(base) / T(p): the samples per second over the base's"
                            : " Speedup = T(base) / T(p)") +
                      ", T = median ",
                  definition(vocabulary::kStepTime), ", p = ranks; dashed: ideal, from the base on."};
    append(caption, bases_words(all, vocabulary::kStepTime));
    return {chart, caption};
}

}  // namespace

std::vector<Figure> scaling_figures(const Source& source, Scaling scaling) {
    const auto all = model::training_series(source.grouped, scaling);
    if (all.empty()) return {};
    return {speedup(all, scaling, source), efficiency(all, scaling, source),
            curve(all, scaling, vocabulary::kThroughput, "throughput", "Throughput [samples/s]", 1),
            curve(all, scaling, vocabulary::kStepTime, "step_time", "Step time [s]",
                  scaling == Scaling::weak ? 0 : -1)};
}

std::vector<Figure> thread_figures(const Source& source) {
    const auto all = model::thread_series(source.grouped);
    if (all.empty()) return {};
    model::Ratios ratios(source.load);
    return {time_ratios({.name = "thread_scaling",
                         .title = "Speedup of a training step over compute threads",
                         .x_label = "compute threads of a rank",
                         .y_label = "speedup"},
                        all, vocabulary::kStepTime,
                        " of the same work on as many ranks; dashed: linear, from the base on.", ratios)};
}

std::vector<Figure> io_scaling_figures(const Source& source) {
    const auto all = model::writing_series(source.grouped);
    if (all.empty()) return {};
    model::Ratios ratios(source.load);
    Figure times = time_ratios({.name = "io_scaling",
                                .title = "Speedup of writing over ranks or workers",
                                .x_label = "ranks, or workers",
                                .y_label = "speedup"},
                               all, vocabulary::kJobTime, "; dashed: linear, from the base on.", ratios);
    for (const auto& series : all)
        times.caption.emplace_back(
            fmt::format(" {}: {}.", cut(series.title, 120), cut(place_of(series), 200)));
    Chart shares{.name = "io_efficiency",
                 .title = "Efficiency of writing over ranks or workers",
                 .x_label = times.chart.x_label,
                 .y_label = "efficiency per core"};
    draw_over_widths(shares, all, "ideal", 0, [&](const Series& series, const SeriesPoint& point) {
        return efficiency_point(series, point, vocabulary::kJobTime, Scaling::strong, ratios);
    });
    return {std::move(times),
            {shares,
             {"The speedup over the cores that it took, those of the base being 1: processes that write, at "
              "most the cores that they may use."}}};
}

}  // namespace ranklab::report::figures
