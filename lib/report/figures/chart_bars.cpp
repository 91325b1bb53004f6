#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "report/figures/chart_scripts.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kLongestName = 64;
// Told apart without colours, on paper: solid, and gnuplot's patterns that differ most.
constexpr std::array kPatterns{3, 4, 1, 5, 2, 6, 7};

// What stands at a category: its name above the bar, and its number beside it where the bar is one number.
std::string label_data(const Chart& chart, const std::vector<double>& ends) {
    std::vector<double> reach = ends, value(ends.size(), stats::kNone);
    std::vector<int> parts(ends.size(), 0);
    chart.visit([&](const ChartPoint& p) {
        const auto row = static_cast<std::size_t>(p.x);
        parts[row] += 1;
        value[row] = p.y;
        if (!std::isnan(p.interval.high)) reach[row] = std::max(reach[row], p.interval.high);
    });
    std::string text = "\n\n# y end number category\n";
    for (std::size_t row = 0; row < ends.size(); ++row) {
        const std::string number = parts[row] == 1 ? "   " + plot_text(value[row]) : " ";
        text += fmt::format("-{} {} {} {}\n", row, plot_value(reach[row]), data_quoted(number, kLongestName),
                            data_quoted(chart.categories[row], kLongestName));
    }
    return text;
}

std::string bar_axes(const Chart& chart) {
    Range ends;
    std::vector<double> sums(chart.categories.size(), 0);
    double smallest = INFINITY;
    chart.visit([&](const ChartPoint& p) {
        sums[static_cast<std::size_t>(p.x)] += std::isnan(p.y) ? 0 : p.y;
        ends.add(p.interval.high);
        for (const double low : {p.y, p.interval.low})
            if (low > 0) smallest = std::min(smallest, low);
    });
    for (const double sum : sums) ends.add(sum);
    const double most = ends.high > 0 ? ends.high : 1;
    const std::string x = chart.log_x ? fmt::format("low = {}\nset logscale x\nset xrange [low:{}]\n",
                                                    smallest / 1.6, 6 * most) +
                                            axis_tics("x", decimal_tics(smallest / 1.6, 6 * most))
                                      : fmt::format("low = 0\nset xrange [0:{}]\n", 1.14 * most);
    return fmt::format(
        "set xlabel {}\nset yrange [{}:0.75]\nunset ytics\nset border 1\nset xtics nomirror\n{}",
        gnuplot_quoted(chart.x_label), 0.55 - static_cast<double>(chart.categories.size()), x);
}

// Of one bar, or of all of a series.
std::string bars(const Chart& chart, const std::string& which, const std::string& look) {
    const std::string file = fmt::format("'{}.dat' {}", chart.name, which);
    if (chart.log_x) return fmt::format("{} using 3:($1-0.07) with points {}", file, look);
    return fmt::format("{} using 2:1:2:3:($1-0.24):($1+0.1) with boxxyerror {}", file, look);
}

std::string look_of(const Chart& chart, std::size_t series, Medium medium) {
    const std::string colour = colour_of(chart.series[series]);
    if (chart.log_x) return "pointtype 7 pointsize 1.1 " + colour;
    if (medium == Medium::page || chart.series.size() < 2) return "fillstyle solid 0.85 noborder " + colour;
    return fmt::format("{} fillstyle pattern {} border", colour, kPatterns[series % kPatterns.size()]);
}

std::string interval_of(std::size_t series) {
    return fmt::format(
        "'' index {} using 5:($1-0.07):($6-$5):(0) with vectors heads size screen 0.006,90 linecolor rgb "
        "'black' linewidth 1.3 notitle",
        series);
}

// The pointer finds a dot more easily where there is more of it.
std::vector<std::string> hovers(const Chart& chart, std::size_t series) {
    std::vector<std::string> all;
    const auto& points = chart.series[series].points;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (std::isnan(points[i].y)) continue;
        const std::string seen = chart.log_x ? "pointtype 7 pointsize 3 linecolor rgb '#ff000000'"
                                             : look_of(chart, series, Medium::page);
        all.push_back(bars(chart, one_point(series, i), seen));
    }
    return all;
}

}  // namespace

// Bars lie on each other's ends; the first category is on top. Dots do not add up.
std::string bar_data(const Chart& chart) {
    std::string text = "# y from to value low high\n";
    std::vector<double> ends(chart.categories.size(), 0);
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        text += block_head(chart, i);
        for (const auto& p : chart.series[i].points) {
            double& end = ends[static_cast<std::size_t>(p.x)];
            const double from = end;
            end = chart.log_x ? p.y : from + (std::isnan(p.y) ? 0 : p.y);
            text += fmt::format("{} {} {} {} {} {}\n", -p.x, chart.log_x ? "NaN" : plot_value(from),
                                plot_value(end), plot_value(p.y), plot_value(p.interval.low),
                                plot_value(p.interval.high));
        }
    }
    return text + label_data(chart, ends);
}

// A category's name stands above its bar, where a long one has room on a narrow page.
std::string bar_script(const Chart& chart, Medium medium) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const bool on_paper = medium == Medium::paper;
        if (on_paper || chart.log_x)
            parts.push_back(bars(chart, fmt::format("index {}", i), look_of(chart, i, medium)) + " " +
                            key_title(chart.series[i], medium));
        if (has_intervals(chart.series[i])) parts.push_back(interval_of(i));
        if (on_paper) continue;
        const auto hovered = hovers(chart, i);  // the bars themselves, one by one
        parts.insert(chart.log_x ? parts.end() : parts.end() - (has_intervals(chart.series[i]) ? 1 : 0),
                     hovered.begin(), hovered.end());
    }
    const std::string labels = fmt::format("'{}.dat' index {} using ", chart.name, chart.series.size());
    parts.push_back(labels + "(low):($1+0.3):4 with labels left offset 0.3,0 notitle");
    parts.push_back(labels + "2:($1-0.07):3 with labels left notitle");
    return bar_axes(chart) + (medium == Medium::page ? "set lmargin 1\nset tmargin 0.5\n" : "") + "plot " +
           base::join(parts, ", ") + "\n";
}

}  // namespace ranklab::report::figures
