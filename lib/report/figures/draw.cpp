// gnuplot's scripts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/figures/draw.hpp"
#include "report/figures/figure.hpp"
#include "report/figures/tics.hpp"
#include "report/frame/readable.hpp"

namespace ranklab::report::figures {
namespace {

// Okabe and Ito's colours that are legible on white, told apart by colour-blind readers too.
constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#777777"};
constexpr std::array kShapes{7, 9, 5, 13, 11, 6, 8};
constexpr std::array kDashes{"1", "(14,5)", "(4,4)", "(14,4,3,4)", "(9,3,2,3,2,3)"};
constexpr std::array kPatterns{3, 4, 1, 5, 2, 6, 7};  // of stacked bars: gnuplot's that differ most
constexpr int kWidth = 560, kHeight = 330, kBarHeight = 46, kEntryHeight = 20;

bool is_drawn(double number) {
    return std::abs(number) < 1e300;
}

std::string value(double number) {
    return is_drawn(number) ? fmt::format("{}", number) : "NaN";
}

struct Range {
    double low = INFINITY, high = -INFINITY;
    void add(double one) {
        if (!is_drawn(one)) return;
        low = std::min(low, one);
        high = std::max(high, one);
    }
};

std::string colour_of(const Series& series) {
    return fmt::format("linecolor rgb '{}'", kColours[series.colour % kColours.size()]);
}

std::string key_title(const Series& series) {
    return "title " + gnuplot_quoted(base::shortened(series.title, 64));
}

bool has_intervals(const Series& series) {
    return std::ranges::any_of(series.points,
                               [](const Point& point) { return is_drawn(point.interval.low); });
}

std::string look_of(const Series& series) {
    const std::size_t colour = series.colour % kColours.size();
    switch (series.look) {
        case Look::line:
            return fmt::format("with lines dashtype {} linewidth 1.6 {}",
                               kDashes[(series.colour + series.colour / kColours.size()) % kDashes.size()],
                               colour_of(series));
        case Look::dashed:
            return "with lines dashtype (8,6) linewidth 1.2 " + colour_of(series);
        case Look::marks:
            return "with points pointtype 6 pointsize 1.3 linewidth 1.6 " + colour_of(series);
        case Look::points:
            break;
    }
    return fmt::format("with points pointtype {} pointsize 0.9 {}", kShapes[colour], colour_of(series));
}

std::string data_of(const Series& series, std::size_t number) {
    std::string text = fmt::format("$d{} << EOD\n", number);
    for (const auto& p : series.points)
        if (is_drawn(p.x))
            text += fmt::format("{} {} {} {}\n", value(p.x), value(p.y), value(p.interval.low),
                                value(p.interval.high));
    return text + "EOD\n";
}

std::string curves(const Figure& figure) {
    Range x, y;
    std::string data;
    std::vector<std::string> parts;
    std::set<std::string> dashed;  // ideals of one name stand in the key once
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
        const Series& series = figure.series[i];
        data += data_of(series, i);
        for (const auto& point : series.points) {
            x.add(point.x);
            for (const double one : {point.y, point.interval.low, point.interval.high}) y.add(one);
        }
        const bool told = series.look != Look::dashed || dashed.insert(series.title).second;
        parts.push_back(
            fmt::format("$d{} using 1:2 {} {}", i, look_of(series), told ? key_title(series) : "notitle"));
        if (has_intervals(series))  // not yerrorbars: those erase the point that they belong to
            parts.push_back(
                fmt::format("$d{} using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 {} linewidth "
                            "1.4 notitle",
                            i, colour_of(series)));
    }
    const double space = 0.04 * (x.high > x.low ? x.high - x.low : 1);
    std::string axes = fmt::format("set xlabel {}\nset ylabel {}\n", gnuplot_quoted(figure.x_label),
                                   gnuplot_quoted(figure.y_label));
    axes += figure.log_x ? fmt::format("set logscale x 2\nset xrange [{}:{}]\n", x.low / 1.25, x.high * 1.25)
                         : fmt::format("set xrange [{}:{}]\n", x.low - space, x.high + space);
    axes += figure.log_y ? fmt::format("set logscale y\nset yrange [{}:{}]\n", y.low / 1.6, y.high * 1.6) +
                               decimal_tics("y", y.low / 1.6, y.high * 1.6, figure.unit)
                         : fmt::format("set yrange [{}:{}]\n", std::min(0.0, 1.1 * y.low),
                                       y.high > 0 ? 1.12 * y.high : 1);
    axes += !figure.x_tics.empty() ? plain_tics("x", figure.x_tics)
            : figure.x_bytes       ? byte_tics("x", x.low / 1.25, x.high * 1.25)
                                   : "";
    if (is_drawn(figure.shaded_to))
        axes += fmt::format(
            "set object 1 rectangle from graph 0, graph 0 to first {}, graph 1 behind fillcolor rgb "
            "'#777777' fillstyle transparent solid 0.18 noborder\n",
            figure.shaded_to);
    return data + axes + "plot " + base::join(parts, ", ") + "\n";
}

// Bars lie on each other's ends, the first category on top, its name above its bar and its number beside it.
std::string bars(const Figure& figure) {
    std::vector<double> ends(figure.categories.size(), 0), reach(figure.categories.size(), 0);
    std::vector<std::size_t> parts_of(figure.categories.size(), 0);
    std::vector<double> alone(figure.categories.size(), stats::kNone);
    std::string data;
    std::vector<std::string> parts;
    double smallest = INFINITY;
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
        const Series& series = figure.series[i];
        data += fmt::format("$d{} << EOD\n", i);
        for (const auto& p : series.points) {
            const auto row = static_cast<std::size_t>(p.x);
            const double from = figure.log_x ? stats::kNone : ends[row];
            ends[row] = figure.log_x ? p.y : ends[row] + (is_drawn(p.y) ? p.y : 0);
            reach[row] = std::max({reach[row], is_drawn(ends[row]) ? ends[row] : 0,
                                   is_drawn(p.interval.high) ? p.interval.high : 0});
            if (p.y > 0) smallest = std::min(smallest, p.y);
            ++parts_of[row];
            alone[row] = p.y;
            data += fmt::format("{} {} {} {} {}\n", -p.x, value(from), value(ends[row]),
                                value(p.interval.low), value(p.interval.high));
        }
        data += "EOD\n";
        const std::string look = figure.series.size() < 2
                                     ? "fillstyle solid 0.85 noborder " + colour_of(series)
                                     : fmt::format("{} fillstyle pattern {} border", colour_of(series),
                                                   kPatterns[(i + i / kColours.size()) % kPatterns.size()]);
        const std::string title = figure.series.size() < 2 ? "notitle" : key_title(series);
        parts.push_back(
            figure.log_x
                ? fmt::format("$d{} using 3:($1-0.07) with points pointtype 7 pointsize 1.1 {} {}", i,
                              colour_of(series), title)
                : fmt::format("$d{} using 2:1:2:3:($1-0.24):($1+0.1) with boxxyerror {} {}", i, look, title));
        if (has_intervals(series))
            parts.push_back(
                fmt::format("$d{} using 4:($1-0.07):($5-$4):(0) with vectors heads size screen 0.006,90 "
                            "linecolor rgb 'black' linewidth 1.3 notitle",
                            i));
    }
    data += "$names << EOD\n";
    for (std::size_t row = 0; row < ends.size(); ++row) {
        std::string name = gnuplot_quoted(figure.categories[row]),
                    number = parts_of[row] == 1 ? readable(alone[row], figure.unit) : " ";
        name = name.substr(1, name.size() - 2);
        std::ranges::replace(name, '"', '\'');
        data += fmt::format("-{} {} \"   {}\" \"{}\"\n", row, value(reach[row]), number, name);
    }
    data += "EOD\n";
    const double most = std::ranges::max(reach) > 0 ? std::ranges::max(reach) : 1;
    const std::string axes =
        fmt::format("set xlabel {}\nset yrange [{}:0.75]\nunset ytics\nset border 1\nset xtics nomirror\n",
                    gnuplot_quoted(figure.x_label), 0.55 - static_cast<double>(ends.size())) +
        (figure.log_x
             ? fmt::format("low = {0}\nset logscale x\nset xrange [low:{1}]\n", smallest / 1.6, 6 * most) +
                   decimal_tics("x", smallest / 1.6, 6 * most, figure.unit)
             : fmt::format("low = 0\nset xrange [0:{}]\n", 1.25 * most));
    parts.emplace_back("$names using (low):($1+0.3):4 with labels left offset 0.3,0 notitle");
    parts.emplace_back("$names using 2:($1-0.07):3 with labels left notitle");
    return data + axes + "plot " + base::join(parts, ", ") + "\n";
}

}  // namespace

bool Figure::empty() const {
    return std::ranges::all_of(series, [](const Series& one) {
        return std::ranges::none_of(one.points, [](const Point& point) { return is_drawn(point.y); });
    });
}

Frame frame_of(const Figure& figure) {
    Frame frame{.title = figure.title + (figure.caption.empty() ? "" : ". " + figure.caption)};
    const Column number{.name = figure.bars() ? figure.x_label : figure.y_label,
                        .unit = figure.unit.empty() ? "1" : figure.unit,
                        .interval = true};
    if (figure.bars()) {
        frame.columns = {{.name = "name", .key = true}};
        for (const auto& category : figure.categories) frame.rows.push_back({{category}, {}});
        for (const auto& series : figure.series) {
            Column column = number;
            column.name = figure.series.size() < 2 ? number.name : series.title;
            column.interval = has_intervals(series);
            frame.columns.push_back(column);
            for (const auto& point : series.points) {
                auto& cells = frame.rows[static_cast<std::size_t>(point.x)].cells;
                cells.resize(frame.columns.size());
                cells.back() = {point.y, point.interval};
            }
        }
        return frame;
    }
    frame.columns = {{.name = "series", .key = true},
                     {.name = figure.x_label, .unit = figure.x_bytes ? "B" : "", .key = true},
                     number};
    for (const auto& series : figure.series)
        for (const auto& point : series.points)
            if (series.look != Look::dashed)
                frame.rows.push_back({{series.title, Cell(point.x), Cell(point.y, point.interval)}, {}});
    return frame;
}

std::string script_of(const Figure& figure) {
    const std::size_t entries = figure.series.size() < 2 ? 0 : figure.series.size();
    const int height =
        (figure.bars() ? 90 + kBarHeight * static_cast<int>(figure.categories.size()) : kHeight) +
        kEntryHeight * static_cast<int>(entries);
    return fmt::format(
               "# gnuplot -e \"ending='svg'\" {0}.gp makes {0}.svg; so for pdf and png.\n"
               "if (!exists('ending')) ending = 'svg'\n"
               "if (ending eq 'svg') set terminal svg size {1},{2} dynamic noenhanced font ',13' background "
               "rgb 'white'\n"
               "if (ending eq 'pdf') set terminal pdfcairo size {3},{4} noenhanced fontscale 0.6 background "
               "rgb 'white'\n"
               "if (ending eq 'png') set terminal pngcairo size {5},{6} noenhanced fontscale 1.6 background "
               "rgb 'white'\n"
               "set encoding utf8\nset datafile missing 'NaN'\nset output '{0}.'.ending\n"
               "set title {7}\nset grid linecolor rgb 'gray' linewidth 0.6\nset tics scale 0.5\n{8}",
               figure.name, kWidth, height, kWidth / 110.0, height / 110.0, 2 * kWidth, 2 * height,
               gnuplot_quoted(figure.title),
               entries == 0 ? "unset key\n"
                            : "set key below left Left reverse maxcols 1 samplen 2 font ',10'\n") +
           (figure.bars() ? bars(figure) : curves(figure));
}

}  // namespace ranklab::report::figures
