#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/figures/figure.hpp"
#include "report/model/curves.hpp"
#include "report/model/ratio.hpp"
#include "report/model/surroundings.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::figures {
namespace {

using stats::Scaling;

constexpr double kLogarithmicFrom = 8;  // largest / smallest: further down a linear axis nothing can be read
constexpr std::size_t kNeutral = model::kMostCurves;  // the colour of what is no series'
static_assert(kNeutral < kColours.size());

std::vector<double> rank_counts(const std::vector<model::CurveOfGroups>& all) {
    std::vector<double> counts;
    for (const auto& series : all)
        for (const model::Group* group : series.points) counts.push_back(static_cast<double>(group->ranks));
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

// From the base at `from` on: what a perfect machine would show.
template <class Ideal>
ChartSeries ideal_line(double from, double to, std::size_t colour, Ideal ideal) {
    ChartSeries line{"ideal", Look::dashed, colour, {}};
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
    const model::Group* group = nullptr;
    std::size_t colour = 0;  // its series', or the neutral one where it is the single-device code
    std::string of;          // the series that it is the base of; "" where there is no other base
    bool is_single = false;
};

std::vector<Base> bases_of(const std::vector<model::CurveOfGroups>& all) {
    std::vector<Base> bases;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const model::Group* group = all[i].points.front();
        const auto known =
            std::find_if(bases.begin(), bases.end(), [&](const Base& base) { return base.group == group; });
        const bool is_single = model::is_single_device(group->newest);
        if (known != bases.end()) {
            known->of += " and of " + all[i].title;
        } else {
            bases.push_back(
                {group, is_single && all.size() > 1 ? kNeutral : i, " of " + all[i].title, is_single});
        }
    }
    if (bases.size() == 1) bases.front().of.clear();
    return bases;
}

Words bases_words(const std::vector<model::CurveOfGroups>& all, const std::string& name) {
    Words words;
    for (const auto& base : bases_of(all)) {
        const auto* m = base.group->newest.find(name);
        words.emplace_back(fmt::format(" Base{}: ", cut(base.of, 300)));
        append(words, estimate_of(*base.group, name));
        words.emplace_back(fmt::format(" {} at {}{}.", m == nullptr ? "" : cut(m->unit, 20),
                                       counted(base.group->ranks, "rank"),
                                       base.is_single ? ", single-device code" : ""));
    }
    for (const auto& series : all)
        if (!series.differing.empty())
            words.emplace_back(fmt::format(" Not the same at all points of {}: {}.", cut(series.title, 120),
                                           cut(series.differing, 200)));
    return words;
}

Chart empty_chart(const std::vector<model::CurveOfGroups>& all, Scaling scaling, const std::string& what) {
    Chart chart;
    chart.name = fmt::format("{}_{}", word(scaling), what);
    chart.x_label = "ranks";
    chart.x_tics = rank_counts(all);
    chart.log_x = chart.x_tics.back() > kLogarithmicFrom * chart.x_tics.front();
    return chart;
}

// Where the base is the single-device code it is no point of the series: it has a mark of its own.
void add_series(Chart& chart, const model::CurveOfGroups& series, std::size_t colour,
                std::vector<ChartPoint> points) {
    if (model::is_single_device(series.points.front()->newest)) points.erase(points.begin());
    chart.series.push_back({series.title, Look::points, colour, std::move(points)});
}

void add_base(Chart& chart, const Base& base, const ChartPoint& point) {
    if (base.is_single)
        chart.series.push_back(
            {"base" + base.of + ": single-device code", Look::marks, base.colour, {point}});
}

// `power`: how the ideal grows with the ranks (1: as they do, 0: not at all, -1: falls as they grow). Axes
// are such that it is straight, or it would pass for a finding.
Figure curve(const std::vector<model::CurveOfGroups>& all, Scaling scaling, const std::string& measurement,
             const std::string& what, const std::string& label, int power) {
    Chart chart = empty_chart(all, scaling, what);
    chart.title = fmt::format("{}, {} scaling", label.substr(0, label.find(" [")), word(scaling));
    chart.y_label = label;
    chart.log_x = chart.log_x || power < 0;
    chart.log_y = chart.log_x && power != 0;
    chart.y_seconds = power <= 0;
    const double most = chart.x_tics.back();
    const auto point_of = [&](const model::Group* group) -> ChartPoint {
        const model::Estimate found = model::estimate(*group, measurement);
        return {static_cast<double>(group->ranks), found.value, found.ci, estimate_of(*group, measurement)};
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<ChartPoint> points;
        for (const model::Group* group : all[i].points) points.push_back(point_of(group));
        add_series(chart, all[i], i, std::move(points));
    }
    for (const auto& base : bases_of(all)) {
        const ChartPoint point = point_of(base.group);
        add_base(chart, base, point);
        chart.series.push_back(ideal_line(point.x, most, base.colour,
                                          [&](double times) { return point.y * std::pow(times, power); }));
    }
    Words caption{what_is_kept(scaling) + " Points: medians with 95 % intervals of ", definition(measurement),
                  "; dashed: ideal, from the base on."};
    append(caption, bases_words(all, measurement));
    return {chart, caption};
}

ChartPoint efficiency_point(const model::Group& base, const model::Group& group, Scaling scaling,
                            model::Ratios& ratios) {
    const auto both = ratios.of("step_time_s", base, group);
    const double times = static_cast<double>(group.ranks) / static_cast<double>(base.ranks);
    const auto found = both.efficiency(times, scaling);
    const std::string formula = fmt::format(
        "T({}) / {}T({}), T = {}", base.ranks, scaling == Scaling::strong ? fmt::format("{} / ", times) : "",
        group.ranks, made_of(both, "step_time_s", base.newest.id, group.newest.id, "steps"));
    return {static_cast<double>(group.ranks), found.ratio, found.ci,
            derived_with_interval(found.ratio, found.ci, formula)};
}

ChartPoint base_efficiency(const model::Group& base) {
    return {static_cast<double>(base.ranks), 1, {}, {"1 (the base, by definition)"}};
}

Figure efficiency(const std::vector<model::CurveOfGroups>& all, Scaling scaling, const Source& source) {
    Chart chart = empty_chart(all, scaling, "efficiency");
    chart.title = fmt::format("Parallel efficiency, {} scaling", word(scaling));
    chart.y_label = "parallel efficiency";
    model::Ratios ratios(source.load);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const model::Group& base = *all[i].points.front();
        std::vector<ChartPoint> points{base_efficiency(base)};
        for (std::size_t k = 1; k < all[i].points.size(); ++k)
            points.push_back(efficiency_point(base, *all[i].points[k], scaling, ratios));
        add_series(chart, all[i], i, std::move(points));
    }
    for (const auto& base : bases_of(all)) add_base(chart, base, base_efficiency(*base.group));
    chart.series.push_back(
        ideal_line(chart.x_tics.front(), chart.x_tics.back(), kNeutral, [](double) { return 1.0; }));
    const char* const formula = scaling == Scaling::weak ? "T(base) / T(p)" : "T(base) / (p / p_base × T(p))";
    Words caption{fmt::format("{} Efficiency = {}, T = median ", what_is_kept(scaling), formula),
                  definition("step_time_s"),
                  ", p = ranks; 95 % intervals by bootstrap, none where a group has two to five runs."};
    append(caption, bases_words(all, "step_time_s"));
    return {chart, caption};
}

}  // namespace

std::vector<Figure> scaling_figures(const Source& source, Scaling scaling) {
    const auto all = model::curves_of(source.grouped, scaling);
    if (all.empty()) return {};
    return {
        curve(all, scaling, "throughput_samples_per_s", "throughput", "Throughput [samples/s]", 1),
        curve(all, scaling, "step_time_s", "step_time", "Step time [s]", scaling == Scaling::weak ? 0 : -1),
        efficiency(all, scaling, source)};
}

}  // namespace ranklab::report::figures
