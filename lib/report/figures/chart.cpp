#include "report/figures/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;

// With letters of 15: legible at 340 pixels.
constexpr int kWidth = 440, kBarWidth = 500, kWideWidth = 580;
constexpr std::size_t kLetters = 54, kWideLetters = 64;  // of a category above its bar
constexpr int kHeight = 330;
constexpr int kBarHeight = 46;
constexpr int kPaperWidth = 640, kLineHeight = 14;  // of its caption
constexpr std::size_t kPaperLetters = 120;
constexpr std::array kShapes{7, 9, 5, 13, 11, 6, 8};  // the page's legend has the same: mark_of()

struct Range {
    double low = INFINITY, high = -INFINITY;
    void add(double value) {
        if (!std::isfinite(value)) return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

Range range_of(const Chart& chart, double ChartPoint::*axis) {
    Range range;
    chart.visit([&](const ChartPoint& point) {
        range.add(point.*axis);
        if (axis == &ChartPoint::y) range.add(point.interval.low);
        if (axis == &ChartPoint::y) range.add(point.interval.high);
    });
    return range;
}

// One block a series: the n-th block is gnuplot's `index n`.
std::string block_head(const Chart& chart, std::size_t series) {
    return fmt::format("{}# {}\n", series == 0 ? "" : "\n\n",
                       base::printable(chart.series[series].title, 200));
}

std::string xy_data(const Chart& chart) {
    std::string text = "# x y low high (95 % interval; NaN where there is none)\n";
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        text += block_head(chart, i);
        for (const auto& p : chart.series[i].points)
            text += fmt::format("{} {} {} {}\n", plot_value(p.x), plot_value(p.y), plot_value(p.interval.low),
                                plot_value(p.interval.high));
    }
    return text;
}

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
        text += fmt::format("-{} {} {} {}\n", row, plot_value(reach[row]), data_quoted(number, kWideLetters),
                            data_quoted(chart.categories[row], kWideLetters));
    }
    return text;
}

// Bars lie on each other's ends; the first category is on top. On a logarithmic axis they do not stack.
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

std::string look_of(const ChartSeries& series) {
    const std::string colour = fmt::format("linecolor rgb '{}'", kColours[colour_index(series.colour)]);
    const int shape = kShapes[colour_index(series.colour)];
    switch (series.look) {
        case Look::line:
            return fmt::format("with lines dashtype {} linewidth 1.6 {}", 1 + series.colour / kColours.size(),
                               colour);
        case Look::dashed:
            return "with lines dashtype (8,6) linewidth 1.2 " + colour;
        case Look::marks:
            return fmt::format("with points pointtype 6 pointsize 1.1 linewidth 1.6 {}", colour);
        default:
            return fmt::format("with points pointtype {} pointsize 0.9 {}", shape, colour);
    }
}

bool has_intervals(const ChartSeries& series) {
    return std::ranges::any_of(series.points,
                               [](const ChartPoint& point) { return !std::isnan(point.interval.low); });
}

std::string title_of(const ChartSeries& series, Medium medium) {
    return medium == Medium::page ? "notitle" : "title " + gnuplot_quoted(series.title);
}

std::string xy_axes(const Chart& chart) {
    const Range x = range_of(chart, &ChartPoint::x);
    const Range y = range_of(chart, &ChartPoint::y);
    // Where tics have units of their own the label has none.
    const std::string y_label =
        chart.log_y && chart.y_seconds ? chart.y_label.substr(0, chart.y_label.find(" [s]")) : chart.y_label;
    std::string text =
        fmt::format("set xlabel {}\nset ylabel {}\n", gnuplot_quoted(chart.x_label), gnuplot_quoted(y_label));
    const double space = 0.04 * (x.high > x.low ? x.high - x.low : 1);
    text += chart.log_x ? fmt::format("set logscale x 2\nset xrange [{}:{}]\n", x.low / 1.25, x.high * 1.25)
                        : fmt::format("set xrange [{}:{}]\n", x.low - space, x.high + space);
    text += chart.log_y ? fmt::format("set logscale y\nset yrange [{}:{}]\n", y.low / 1.6, y.high * 1.6)
                        : fmt::format("set yrange [{}:{}]\n", std::min(0.0, 1.1 * y.low),
                                      y.high > 0 ? 1.12 * y.high : 1);
    if (chart.log_y)
        text += axis_tics("y", chart.y_seconds ? second_tics(y.low / 1.6, y.high * 1.6)
                                               : decimal_tics(y.low / 1.6, y.high * 1.6));
    if (!chart.x_tics.empty()) return text + axis_tics("x", plain_tics(chart.x_tics));
    return chart.x_bytes ? text + axis_tics("x", byte_tics(x.low / 1.25, x.high * 1.25)) : text;
}

std::string xy_script(const Chart& chart, Medium medium) {
    std::string text = xy_axes(chart);
    if (!std::isnan(chart.shaded_to))
        text += fmt::format(
            "set object 1 rectangle from graph 0, graph 0 to first {}, graph 1 behind fillcolor rgb "
            "'#777777' "
            "fillstyle transparent solid 0.18 noborder\n",
            chart.shaded_to);
    text += "plot ";
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const ChartSeries& series = chart.series[i];
        const std::string colour = kColours[colour_index(series.colour)];
        const std::string which = fmt::format("index {}", i);
        text += fmt::format("{}'{}.dat' {} using 1:2 {} {}", i == 0 ? "" : ", ", chart.name, which,
                            look_of(series), title_of(series, medium));
        if (has_intervals(series))
            text +=
                ", " + gnuplot_interval(which, 3, fmt::format("linecolor rgb '{}' linewidth 1.4", colour));
    }
    return text + "\n";
}

std::string bar_axes(const Chart& chart) {
    Range ends;
    std::vector<double> sums(chart.categories.size(), 0);
    chart.visit([&](const ChartPoint& p) {
        sums[static_cast<std::size_t>(p.x)] += std::isnan(p.y) ? 0 : p.y;
        ends.add(p.interval.high);
    });
    double smallest = INFINITY;
    for (const double sum : sums) {
        ends.add(sum);
        if (sum > 0) smallest = std::min(smallest, sum);
    }
    const double most = ends.high > 0 ? ends.high : 1;
    return fmt::format("set xlabel {}\nset yrange [{}:0.75]\nunset ytics\nset border 1\nset xtics nomirror\n",
                       gnuplot_quoted(chart.x_label), 0.55 - static_cast<double>(chart.categories.size())) +
           (chart.log_x ? fmt::format("set logscale x\nset xrange [{}:{}]\n", smallest / 3, 6 * most)
                        : fmt::format("set xrange [0:{}]\n", 1.14 * most));
}

// A category's name stands above its bar, where a long one has room on a narrow page.
std::string bar_script(const Chart& chart, Medium medium) {
    std::string text = bar_axes(chart) + "set style fill solid 0.85 noborder\nset lmargin 1\n" +
                       (medium == Medium::page ? "set tmargin 0.5\n" : "");
    text += "plot ";
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const std::string colour = kColours[colour_index(chart.series[i].colour)];
        const std::string from = chart.log_x ? "(low)" : "2";
        text += fmt::format(
            "{}'{}.dat' index {} using {}:1:{}:3:($1-0.24):($1+0.1) with boxxyerror linecolor rgb '{}' {}",
            i == 0 ? "" : ", ", chart.name, i, from, from, colour, title_of(chart.series[i], medium));
        if (has_intervals(chart.series[i]))
            text += fmt::format(
                ", '' index {} using 5:($1-0.07):($6-$5):(0) with vectors heads size screen 0.006,90 "
                "linecolor rgb "
                "'black' linewidth 1.3 notitle",
                i);
    }
    const std::size_t labels = chart.series.size();
    text += fmt::format(
        ", '' index {} using ({}):($1+0.3):4 with labels left offset 0.3,0 notitle, '' index {} using "
        "2:($1-0.07):3 with labels left notitle",
        labels, chart.log_x ? "low" : "0", labels);
    return text + "\n";
}

double smallest_bar(const Chart& chart) {
    double smallest = INFINITY;
    chart.visit([&](const ChartPoint& p) {
        if (p.y > 0) smallest = std::min(smallest, p.y);
    });
    return smallest / 3;
}

int height_of(const Chart& chart) {
    return chart.bars() ? 70 + kBarHeight * static_cast<int>(chart.categories.size()) : kHeight;
}

// As narrow as can be: on a narrow page letters shrink with the picture.
int width_of(const Chart& chart) {
    const bool long_names =
        std::ranges::any_of(chart.categories, [](const std::string& name) { return name.size() > kLetters; });
    if (chart.wide || long_names) return kWideWidth;
    return chart.bars() ? kBarWidth : kWidth;
}

std::string page_head(const Chart& chart) {
    return fmt::format(
        "reset\nset encoding utf8\n"
        "set terminal svg size {},{} dynamic noenhanced font ',15' name '{}'\n"
        "set datafile missing 'NaN'\nending = 'svg'\nunset key\n",
        width_of(chart), height_of(chart), chart.name);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines{""};
    for (const auto& word : base::split(text, ' ')) {
        if (lines.back().size() + word.size() > kPaperLetters) lines.emplace_back();
        lines.back() += (lines.back().empty() ? "" : " ") + word;
    }
    return lines;
}

// Title above, key and caption below.
std::string paper_head(const Chart& chart, const Words& caption) {
    const auto lines = lines_of(plain_text(caption));
    const double below = 8 + kLineHeight * static_cast<double>(lines.size());
    const double height = height_of(chart) + 40 + 20.0 * static_cast<double>(chart.series.size()) + below;
    std::string text = gnuplot_head("plot_" + chart.name + ".gp", kPaperWidth, static_cast<int>(height));
    for (std::size_t i = 0; i < lines.size(); ++i)
        text += fmt::format("set label {} {} at screen 0.02, screen {:.4f} font ',9'\n", i + 1,
                            gnuplot_quoted(lines[i]),
                            kLineHeight * (static_cast<double>(lines.size() - i) - 0.3) / height);
    return text + fmt::format("set origin 0,{0:.4f}\nset size 1,{1:.4f}\nset title {2}\n{3}", below / height,
                              1 - below / height, gnuplot_quoted(chart.title),
                              chart.series.size() < 2 ? "unset key\n"
                                                      : "set key outside below maxcols 1 Left reverse\n");
}

std::string script_of(const Chart& chart, const Words& caption, Medium medium) {
    std::string text = medium == Medium::paper ? paper_head(chart, caption) : page_head(chart);
    text += fmt::format(
        "set output '{}.'.ending\nset grid linecolor rgb 'gray' linewidth 0.6\nset tics scale 0.5\n",
        chart.name);
    if (chart.log_x && chart.bars()) text += fmt::format("low = {}\n", smallest_bar(chart));
    text += chart.bars() ? bar_script(chart, medium) : xy_script(chart, medium);
    return medium == Medium::paper ? text + gnuplot_tail("plot_" + chart.name + ".gp") : text;
}

// Of the rest a row of the data says that there is none.
Chart with_what_is_drawn(Chart chart) {
    for (auto& series : chart.series) {
        std::erase_if(series.points, [](const ChartPoint& point) { return !is_drawn(point.x); });
        for (auto& point : series.points)
            for (double* value : {&point.y, &point.interval.low, &point.interval.high})
                if (!is_drawn(*value)) *value = stats::kNone;
    }
    if (chart.bars()) return chart;
    std::erase_if(chart.series, [](const ChartSeries& series) {
        return std::ranges::all_of(series.points, [](const auto& point) { return std::isnan(point.y); });
    });
    return chart;
}

}  // namespace

bool Chart::empty() const {
    bool none = true;
    visit([&](const ChartPoint& point) { none = none && !is_drawn(point.y); });
    return none;
}

Drawing prepare_chart(const Chart& all, const Words& caption, const fs::path& folder, Medium medium) {
    const Chart chart = with_what_is_drawn(all);
    Drawing drawing{folder / (chart.name + ".dat"), folder / ("plot_" + chart.name + ".gp"),
                    folder / (chart.name + ".svg")};
    write_plot_file(drawing.data, chart.bars() ? bar_data(chart) : xy_data(chart));
    write_plot_file(drawing.script, script_of(chart, caption, medium));
    return drawing;
}

}  // namespace ranklab::report::figures
