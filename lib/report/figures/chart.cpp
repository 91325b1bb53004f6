#include "report/figures/chart_scripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

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
constexpr int kTitleHeight = 50, kAxisHeight = 72, kEntryHeight = 20;
constexpr std::size_t kPaperLetters = 88, kMostLines = 8, kLongestEntry = 90;
// One by one, a colour's own, and another when the colours begin again: 7 and 5 have no common divisor.
constexpr std::array kDashes{"1", "(14,5)", "(4,4)", "(14,4,3,4)", "(9,3,2,3,2,3)"};
constexpr std::array kShapes{7, 9, 5, 13, 11, 6, 8};  // the page's legend has the same: mark_of()

Range range_of(const Chart& chart, double ChartPoint::*axis) {
    Range range;
    chart.visit([&](const ChartPoint& point) {
        range.add(point.*axis);
        if (axis == &ChartPoint::y) range.add(point.interval.low);
        if (axis == &ChartPoint::y) range.add(point.interval.high);
    });
    return range;
}

std::string look_of(const ChartSeries& series) {
    const std::string colour = colour_of(series);
    const int shape = kShapes[colour_index(series.colour)];
    switch (series.look) {
        case Look::line:
            return fmt::format("with lines dashtype {} linewidth 1.6 {}", kDashes[dash_index(series.colour)],
                               colour);
        case Look::dashed:
            return "with lines dashtype (8,6) linewidth 1.2 " + colour;
        case Look::marks:
            return fmt::format("with points pointtype 6 pointsize 1.1 linewidth 1.6 {}", colour);
        default:
            return fmt::format("with points pointtype {} pointsize 0.9 {}", shape, colour);
    }
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
    if (lines.size() <= kMostLines) return lines;
    lines.resize(kMostLines);
    lines.back() += " …";
    return lines;
}

// From the top: title, picture, axis, key with an entry a line, caption; none of them in another's place.
std::string paper_head(const Chart& chart, const Words& caption) {
    const auto lines = lines_of(plain_text(caption));
    const std::size_t entries = chart.series.size() < 2 ? 0 : told_in_key(chart).size();
    const double below = 8 + kLineHeight * static_cast<double>(lines.size());
    const double key = kEntryHeight * static_cast<double>(entries);
    const double height = kTitleHeight + height_of(chart) + kAxisHeight + key + below;
    std::string text = gnuplot_head("plot_" + chart.name + ".gp", kPaperWidth, static_cast<int>(height));
    for (std::size_t i = 0; i < lines.size(); ++i)
        text += fmt::format("set label {} {} at screen 0.02, screen {:.4f} font ',9'\n", i + 1,
                            gnuplot_quoted(lines[i]),
                            kLineHeight * (static_cast<double>(lines.size() - i) - 0.3) / height);
    text += fmt::format(
        "set title {}\nset lmargin at screen {}\nset rmargin at screen 0.97\nset tmargin at screen "
        "{:.4f}\nset bmargin at screen {:.4f}\n",
        gnuplot_quoted(chart.title), chart.bars() ? 0.03 : 0.15, 1 - kTitleHeight / height,
        (below + key + kAxisHeight) / height);
    if (entries == 0) return text + "unset key\n";
    return text +
           fmt::format("set key at screen 0.03, screen {:.4f} left top Left reverse maxcols 1 samplen 3\n",
                       (below + key) / height);
}

std::string script_of(const Chart& chart, const Words& caption, Medium medium) {
    std::string text = medium == Medium::paper ? paper_head(chart, caption) : page_head(chart);
    text += fmt::format(
        "set output '{}.'.ending\nset grid linecolor rgb 'gray' linewidth 0.6\nset tics scale 0.5\n",
        chart.name);
    text += chart.bars() ? bar_script(chart, medium) : xy_script(chart, medium);
    return medium == Medium::paper ? text + gnuplot_tail("plot_" + chart.name + ".gp") : text;
}

// Seen by the pointer alone, and larger than the point.
void add_hovers(const Chart& chart, std::size_t series, std::vector<std::string>& parts) {
    const auto& points = chart.series[series].points;
    for (std::size_t i = 0; has_hover(chart, series) && i < points.size(); ++i)
        if (!std::isnan(points[i].y))
            parts.push_back(
                fmt::format("'{}.dat' {} using 1:2 with points pointtype 7 pointsize 2 linecolor rgb "
                            "'#ff000000'",
                            chart.name, one_point(series, i)));
}

}  // namespace

void Range::add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
}

std::string block_head(const Chart& chart, std::size_t series) {
    return fmt::format("{}# {}\n", series == 0 ? "" : "\n\n",
                       base::printable(chart.series[series].title, 200));
}

std::string colour_of(const ChartSeries& series) {
    return fmt::format("linecolor rgb '{}'", kColours[colour_index(series.colour)]);
}

bool has_intervals(const ChartSeries& series) {
    return std::ranges::any_of(series.points,
                               [](const ChartPoint& point) { return !std::isnan(point.interval.low); });
}

std::string key_title(const ChartSeries& series, Medium medium) {
    return medium == Medium::page ? "notitle" : "title " + gnuplot_quoted(series.title, kLongestEntry);
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

std::string xy_script(const Chart& chart, Medium medium) {
    std::string text = xy_axes(chart);
    if (!std::isnan(chart.shaded_to))
        text += fmt::format(
            "set object 1 rectangle from graph 0, graph 0 to first {}, graph 1 behind fillcolor rgb "
            "'#777777' fillstyle transparent solid 0.18 noborder\n",
            chart.shaded_to);
    std::vector<std::string> parts;
    std::set<std::string> dashed;  // whose titles the key has
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const ChartSeries& series = chart.series[i];
        const std::string which = fmt::format("index {}", i);
        const bool told = series.look != Look::dashed || dashed.insert(series.title).second;
        parts.push_back(fmt::format("'{}.dat' {} using 1:2 {} {}", chart.name, which, look_of(series),
                                    told ? key_title(series, medium) : "notitle"));
        if (has_intervals(series))
            parts.push_back(gnuplot_interval(which, 3, colour_of(series) + " linewidth 1.4"));
        if (medium == Medium::page) add_hovers(chart, i, parts);
    }
    return text + "plot " + base::join(parts, ", ") + "\n";
}

std::vector<ChartSeries> told_in_key(const Chart& chart) {
    std::vector<ChartSeries> told;
    for (const auto& series : chart.series) {
        const bool again = series.look == Look::dashed && std::ranges::any_of(told, [&](const auto& other) {
                               return other.look == Look::dashed && other.title == series.title;
                           });
        if (!again) told.push_back(series);
    }
    return told;
}

bool Chart::empty() const {
    bool none = true;
    visit([&](const ChartPoint& point) { none = none && !is_drawn(point.y); });
    return none;
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

Drawing prepare_chart(const Chart& all, const Words& caption, const fs::path& folder, Medium medium) {
    const Chart chart = with_what_is_drawn(all);
    Drawing drawing{folder / (chart.name + ".dat"), folder / ("plot_" + chart.name + ".gp"),
                    folder / (chart.name + ".svg")};
    write_plot_file(drawing.data, chart.bars() ? bar_data(chart) : xy_data(chart));
    write_plot_file(drawing.script, script_of(chart, caption, medium));
    return drawing;
}

}  // namespace ranklab::report::figures
