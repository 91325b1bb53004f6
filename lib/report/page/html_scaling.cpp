#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/curves.hpp"
#include "report/model/surroundings.hpp"
#include "report/page/html_sections.hpp"
#include "report/page/html_text.hpp"
#include "stats/interval.hpp"

namespace ranklab::report::page {
namespace {

using stats::Scaling;

constexpr double kLogarithmicFrom = 8;  // largest / smallest: further down a linear axis nothing can be read
constexpr std::size_t kNeutral = model::kMostCurves;  // the colour of what is no series'
static_assert(kNeutral < figures::kColours.size());

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
figures::ChartSeries ideal_line(double from, double to, std::size_t colour, Ideal ideal) {
    figures::ChartSeries line{"ideal", figures::Look::dashed, colour, {}};
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

std::string bases_text(const std::vector<model::CurveOfGroups>& all, const std::string& name) {
    std::string text;
    for (const auto& base : bases_of(all)) {
        const auto* m = base.group->newest.find(name);
        text += fmt::format(" Base{}: {} {} at {} rank{}{}.", escape(base.of, 300),
                            estimate_html(*base.group, name), m == nullptr ? "" : escape(m->unit, 20),
                            base.group->ranks, base.group->ranks == 1 ? "" : "s",
                            base.is_single ? ", single-device code" : "");
    }
    for (const auto& series : all)
        if (!series.differing.empty())
            text += fmt::format(" Not the same at all points of {}: {}.", escape(series.title, 120),
                                escape(series.differing, 200));
    return text;
}

figures::Chart empty_chart(const std::vector<model::CurveOfGroups>& all, Scaling scaling,
                           const std::string& what) {
    figures::Chart chart;
    chart.name = fmt::format("{}_{}", word(scaling), what);
    chart.x_label = "ranks";
    chart.x_tics = rank_counts(all);
    chart.log_x = chart.x_tics.back() > kLogarithmicFrom * chart.x_tics.front();
    return chart;
}

// Where the base is the single-device code it is no point of the series: it has a mark of its own.
void add_series(figures::Chart& chart, const model::CurveOfGroups& series, std::size_t colour,
                std::vector<figures::ChartPoint> points) {
    if (model::is_single_device(series.points.front()->newest)) points.erase(points.begin());
    chart.series.push_back({series.title, figures::Look::points, colour, std::move(points)});
}

void add_base(figures::Chart& chart, const Base& base, const figures::ChartPoint& point) {
    if (base.is_single)
        chart.series.push_back(
            {"base" + base.of + ": single-device code", figures::Look::marks, base.colour, {point}});
}

// `power`: how the ideal grows with the ranks (1: as they do, 0: not at all, -1: falls as they grow). Axes
// are such that it is straight, or it would pass for a finding.
Figure curve(const std::vector<model::CurveOfGroups>& all, Scaling scaling, const std::string& measurement,
             const std::string& what, const std::string& label, int power) {
    figures::Chart chart = empty_chart(all, scaling, what);
    chart.title = fmt::format("{}, {} scaling", label.substr(0, label.find(" [")), word(scaling));
    chart.y_label = label;
    chart.log_x = chart.log_x || power < 0;
    chart.log_y = chart.log_x && power != 0;
    chart.y_seconds = power <= 0;
    const double most = chart.x_tics.back();
    const auto point_of = [&](const model::Group* group) -> figures::ChartPoint {
        const model::Estimate found = model::estimate(*group, measurement);
        return {static_cast<double>(group->ranks), found.value, found.ci, estimate_html(*group, measurement)};
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<figures::ChartPoint> points;
        for (const model::Group* group : all[i].points) points.push_back(point_of(group));
        add_series(chart, all[i], i, std::move(points));
    }
    for (const auto& base : bases_of(all)) {
        const figures::ChartPoint point = point_of(base.group);
        add_base(chart, base, point);
        chart.series.push_back(ideal_line(point.x, most, base.colour,
                                          [&](double times) { return point.y * std::pow(times, power); }));
    }
    return {chart,
            fmt::format("{} Points: medians with 95 % intervals of {}; dashed: ideal, from the base on.{}",
                        what_is_kept(scaling), definition_link(measurement), bases_text(all, measurement))};
}

struct Times {
    std::vector<double> s;
    bool of_runs = false;
};

// One value a run where both sides have enough runs, otherwise the steps of the newest, slowest rank each.
Times times_of(const model::Group& group, bool over_runs, const PageInput& input) {
    if (over_runs) return {group.medians.at("step_time_s"), true};
    const results::Run run = input.load(group.newest.id);
    const auto* m = run.find("step_time_s");
    Times times;
    if (m != nullptr && m->columns > 0) times.s = m->largest_of_rows();
    return times;
}

bool has_runs(const model::Group& group) {
    const auto medians = group.medians.find("step_time_s");
    return medians != group.medians.end() && medians->second.size() >= model::kRunsForInterval;
}

figures::ChartPoint efficiency_point(const model::Group& base, const model::Group& group, Scaling scaling,
                                     const PageInput& input) {
    const bool over_runs = has_runs(base) && has_runs(group);
    const double times = static_cast<double>(group.ranks) / static_cast<double>(base.ranks);
    const auto found = stats::estimate_efficiency(times_of(base, over_runs, input).s,
                                                  times_of(group, over_runs, input).s, times, scaling);
    const std::string formula = fmt::format(
        "T({}) / {}T({}), T = median step_time_s of {}run {} and {}run {}; interval by bootstrap over {}",
        base.ranks, scaling == Scaling::strong ? fmt::format("{} / ", times) : "", group.ranks,
        over_runs ? "the runs like " : "", base.newest.id, over_runs ? "the runs like " : "", group.newest.id,
        over_runs ? "runs" : "steps");
    return {static_cast<double>(group.ranks), found.ratio, found.ci,
            derived_html(found.ratio, formula) + " " + derived_interval_html(found.ci, formula)};
}

figures::ChartPoint base_efficiency(const model::Group& base) {
    return {static_cast<double>(base.ranks), 1, {}, "1 (the base, by definition)"};
}

Figure efficiency(const std::vector<model::CurveOfGroups>& all, Scaling scaling, const PageInput& input) {
    figures::Chart chart = empty_chart(all, scaling, "efficiency");
    chart.title = fmt::format("Parallel efficiency, {} scaling", word(scaling));
    chart.y_label = "parallel efficiency";
    for (std::size_t i = 0; i < all.size(); ++i) {
        const model::Group& base = *all[i].points.front();
        std::vector<figures::ChartPoint> points{base_efficiency(base)};
        for (std::size_t k = 1; k < all[i].points.size(); ++k)
            points.push_back(efficiency_point(base, *all[i].points[k], scaling, input));
        add_series(chart, all[i], i, std::move(points));
    }
    for (const auto& base : bases_of(all)) add_base(chart, base, base_efficiency(*base.group));
    chart.series.push_back(
        ideal_line(chart.x_tics.front(), chart.x_tics.back(), kNeutral, [](double) { return 1.0; }));
    return {chart, fmt::format("{} Efficiency = {}, T = median {}, p = ranks; 95 % intervals by bootstrap.{}",
                               what_is_kept(scaling),
                               scaling == Scaling::weak ? "T(base) / T(p)" : "T(base) / (p / p_base × T(p))",
                               definition_link("step_time_s"), bases_text(all, "step_time_s"))};
}

}  // namespace

std::vector<Figure> scaling_figures(const PageInput& input, Scaling scaling) {
    const auto all = model::curves_of(input.campaign, scaling);
    if (all.empty()) return {};
    return {
        curve(all, scaling, "throughput_samples_per_s", "throughput", "Throughput [samples/s]", 1),
        curve(all, scaling, "step_time_s", "step_time", "Step time [s]", scaling == Scaling::weak ? 0 : -1),
        efficiency(all, scaling, input)};
}

}  // namespace ranklab::report::page
