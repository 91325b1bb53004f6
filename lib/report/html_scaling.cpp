#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "report/html_sections.hpp"
#include "report/html_text.hpp"
#include "report/single_device.hpp"
#include "stats/interval.hpp"

namespace ranklab::report {
namespace {

using stats::Scaling;

// One training set-up at two or more rank counts, ascending; the first is the base.
struct Series {
    std::string title;
    std::vector<const Group*> points;
    std::string differing;  // what the program chose differently along it, by ranks
};

constexpr double kLogarithmicFrom = 8;  // largest / smallest: further down a linear axis nothing can be read
constexpr std::size_t kMostSeries = 7;  // as many as there are colours

// What must be equal along a curve: all settings, but that ranks share a batch (strong) or each has one of
// its own (weak). The single-device run is the base of all that differ only in how ranks work together.
struct CurveKey {
    std::string work;           // equal to the base's
    std::string between_ranks;  // equal at all points of several ranks
    auto operator<=>(const CurveKey&) const = default;
};

// `following`: whether what the program chooses by the number of ranks counts too.
CurveKey curve_key(const Group& group, Scaling scaling, bool following) {
    const char* const free = scaling == Scaling::weak ? "global-batch-size" : "batch-size";
    CurveKey key;
    for (const auto& [name, value, number] : group.newest.config) {
        if (!tells_apart(name) || name == free || (!following && follows_ranks(name))) continue;
        (is_between_ranks(name) ? key.between_ranks : key.work) += name + "=" + value + "\n";
    }
    return key;
}

std::vector<const Group*> trained(const Campaign& campaign) {
    std::vector<const Group*> groups;
    for (const auto& group : campaign.groups())
        if (group.newest.command == "train" && group.valid > 0 && group.newest.find("step_time_s") != nullptr)
            groups.push_back(&group);
    return groups;
}

// Where somebody varied at one rank count what otherwise follows from the ranks, a curve keeps to one value.
bool varied(const std::vector<const Group*>& groups, Scaling scaling) {
    std::map<std::tuple<CurveKey, std::size_t, std::size_t>, CurveKey> met;
    return std::any_of(groups.begin(), groups.end(), [&](const Group* group) {
        const CurveKey whole = curve_key(*group, scaling, true);
        return met.try_emplace({curve_key(*group, scaling, false), group->ranks, group->nodes}, whole)
                   .first->second != whole;
    });
}

using Points = std::map<std::size_t, const Group*>;

void put_newer(const Group*& place, const Group& group) {
    if (place == nullptr || place->last_utc < group.last_utc) place = &group;
}

// "threads 4, 2": along the points.
std::string differing_along(const std::vector<const Group*>& points) {
    std::string text;
    for (const auto& [name, value, number] : points.back()->newest.config) {
        if (!follows_ranks(name)) continue;
        std::string values;
        bool differs = false;
        for (const Group* group : points) {
            if (is_between_ranks(name) && is_single_device(group->newest)) continue;
            const std::string own = group->newest.setting(name);
            differs = differs || own != value;
            values += (values.empty() ? "" : ", ") + own;
        }
        if (differs) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name, values);
    }
    return text;
}

std::vector<Series> series_of(const Campaign& campaign, Scaling scaling) {
    const auto groups = trained(campaign);
    const bool following = varied(groups, scaling);
    std::map<std::string, const Group*> alone;
    std::map<CurveKey, Points> curves;
    for (const Group* group : groups) {
        const CurveKey key = curve_key(*group, scaling, following);
        put_newer(is_single_device(group->newest) ? alone[key.work] : curves[key][group->ranks], *group);
    }
    std::vector<Series> all;
    std::vector<const Group*> last;
    for (const auto& [key, points] : curves) {
        Series series;
        if (const auto base = alone.find(key.work); base != alone.end())
            series.points.push_back(base->second);
        for (const auto& [ranks, group] : points) series.points.push_back(group);
        if (series.points.size() < 2 || series.points.back()->ranks < 2 || all.size() == kMostSeries)
            continue;
        series.differing = differing_along(series.points);
        last.push_back(series.points.back());
        all.push_back(std::move(series));
    }
    const auto titles =
        group_titles(last, scaling == Scaling::weak ? NamedBatch::of_rank : NamedBatch::of_all);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].title = titles[i];
    return all;
}

// Whether ranks of one process group were measured alone too, beside the single-device code.
bool has_two_at_one(const Series& series) {
    return series.points[0]->ranks == series.points[1]->ranks;
}

std::vector<double> rank_counts(const std::vector<Series>& all) {
    std::vector<double> counts;
    for (const auto& series : all)
        for (const Group* group : series.points) counts.push_back(static_cast<double>(group->ranks));
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

std::string bases_text(const std::vector<Series>& all, const std::string& name) {
    std::string text;
    for (const auto& series : all) {
        const Group& base = *series.points.front();
        const auto* m = base.newest.find(name);
        text += fmt::format(" Base of {}: {} {} at {} rank{}{}.", escape(series.title, 120),
                            estimate(base, name).html, m == nullptr ? "" : escape(m->unit, 20), base.ranks,
                            base.ranks == 1 ? "" : "s",
                            is_single_device(base.newest) ? ", single-device code" : "");
        if (!series.differing.empty())
            text += fmt::format(" Not the same at all its points: {}.", escape(series.differing, 200));
    }
    return text;
}

Chart empty_chart(const std::vector<Series>& all, Scaling scaling, const std::string& what) {
    Chart chart;
    chart.name = fmt::format("{}_{}", word(scaling), what);
    chart.x_label = "ranks";
    chart.x_tics = rank_counts(all);
    chart.log_x = chart.x_tics.back() > kLogarithmicFrom * chart.x_tics.front();
    return chart;
}

// The points of a series; its base apart, with a mark of its own, where one rank was measured with and
// without the code for several.
void add_points(Chart& chart, const Series& series, std::size_t colour, std::vector<ChartPoint> points) {
    if (has_two_at_one(series)) {
        chart.series.push_back(
            {"base of " + series.title + ": single-device code", Look::marks, colour, {points.front()}});
        points.erase(points.begin());
    }
    chart.series.push_back({series.title, Look::points, colour, std::move(points)});
}

// `power`: how the ideal grows with the ranks (1: as they do, 0: not at all, -1: falls as they grow). Axes
// are such that it is straight, or it would pass for a finding.
Figure curve(const std::vector<Series>& all, Scaling scaling, const std::string& measurement,
             const std::string& what, const std::string& label, int power) {
    Chart chart = empty_chart(all, scaling, what);
    chart.title = fmt::format("{}, {} scaling", label.substr(0, label.find(" [")), word(scaling));
    chart.y_label = label;
    chart.log_x = chart.log_x || power < 0;
    chart.log_y = chart.log_x && power != 0;
    chart.y_seconds = power <= 0;
    const double most = chart.x_tics.back();
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<ChartPoint> points;
        for (const Group* group : all[i].points) {
            const Estimate found = estimate(*group, measurement);
            points.push_back({static_cast<double>(group->ranks), found.value, found.ci, found.html});
        }
        const ChartPoint base = points.front();
        add_points(chart, all[i], i, std::move(points));
        chart.series.push_back(
            ideal_line(base.x, most, i, [&](double times) { return base.y * std::pow(times, power); }));
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
Times times_of(const Group& group, bool over_runs, const PageInput& input) {
    if (over_runs) return {group.medians.at("step_time_s"), true};
    const results::Run run = input.load(group.newest.id);
    const auto* m = run.find("step_time_s");
    Times times;
    if (m != nullptr && m->columns > 0) times.s = m->largest_of_rows();
    return times;
}

bool has_runs(const Group& group) {
    const auto medians = group.medians.find("step_time_s");
    return medians != group.medians.end() && medians->second.size() >= kRunsForInterval;
}

ChartPoint efficiency_point(const Group& base, const Group& group, Scaling scaling, const PageInput& input) {
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

Figure efficiency(const std::vector<Series>& all, Scaling scaling, const PageInput& input) {
    Chart chart = empty_chart(all, scaling, "efficiency");
    chart.title = fmt::format("Parallel efficiency, {} scaling", word(scaling));
    chart.y_label = "parallel efficiency";
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Group& base = *all[i].points.front();
        std::vector<ChartPoint> points{
            {static_cast<double>(base.ranks), 1, {}, "1 (the base, by definition)"}};
        for (std::size_t k = 1; k < all[i].points.size(); ++k)
            points.push_back(efficiency_point(base, *all[i].points[k], scaling, input));
        add_points(chart, all[i], i, std::move(points));
    }
    chart.series.push_back(
        ideal_line(chart.x_tics.front(), chart.x_tics.back(), 6, [](double) { return 1.0; }));
    return {chart, fmt::format("{} Efficiency = {}, T = median {}, p = ranks; 95 % intervals by bootstrap.{}",
                               what_is_kept(scaling),
                               scaling == Scaling::weak ? "T(base) / T(p)" : "T(base) / (p / p_base × T(p))",
                               definition_link("step_time_s"), bases_text(all, "step_time_s"))};
}

}  // namespace

std::vector<Figure> scaling_figures(const PageInput& input, Scaling scaling) {
    const auto all = series_of(input.campaign, scaling);
    if (all.empty()) return {};
    return {
        curve(all, scaling, "throughput_samples_per_s", "throughput", "Throughput [samples/s]", 1),
        curve(all, scaling, "step_time_s", "step_time", "Step time [s]", scaling == Scaling::weak ? 0 : -1),
        efficiency(all, scaling, input)};
}

}  // namespace ranklab::report
