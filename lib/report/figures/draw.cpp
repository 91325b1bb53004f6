// Writes the gnuplot script of a figure.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/figures/figure.hpp"
#include "report/figures/templates.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kTypes = 11;  // line types in templates/figure.gp
// gnuplot's `with` clause for each Look; {}: the line type or colour.
constexpr std::array kLooks{"linespoints linetype {} dashtype 1 linewidth 1.6 pointsize 0.9",
                            "lines linetype {} linewidth 1.6",
                            "lines linecolor rgb '#888888' dashtype (8,6) linewidth 1.2",
                            "points linecolor {} pointtype 6 pointsize 1.5 linewidth 1.6"};
constexpr int kWidth = 560, kHeight = 340, kBarHeight = 46, kEntryHeight = 15;
constexpr std::size_t kMostTics = 8, kLongestText = 120;

std::string value(double number) {
    return is_drawn(number) ? fmt::format("{}", number) : "NaN";
}

// Quotes the text for gnuplot, on one line. Single quotes keep it from reading escapes.
std::string in_quotes(std::string_view text, std::size_t longest = kLongestText) {
    const std::string shown = base::shortened(base::one_line(text), longest);
    return "'" + base::join(base::split(shown, '\''), "''") + "'";
}

struct Range {
    double low = INFINITY, high = -INFINITY;

    void add(double one) {
        if (!is_drawn(one)) return;
        low = std::min(low, one);
        high = std::max(high, one);
    }
    // Adds space at each end of a logarithmic axis.
    Range widened(double factor) const { return {low / factor, high * factor}; }
    bool is_logarithmic() const { return low > 0 && high > low && std::isfinite(high); }
};

// gnuplot's command for tics at these places; "" for fewer than two, so that gnuplot chooses.
std::string tics_at(const char* axis, const std::vector<std::string>& places) {
    return places.size() < 2
               ? ""
               : fmt::format("set {}tics ({}) nomirror\n", axis, base::join(places, ", "));
}

// Tics at the values, at every k-th if there are too many for their labels.
std::string plain_tics(const std::vector<double>& values) {
    std::vector<std::string> places;
    const std::size_t every = values.size() / (kMostTics + 1) + 1;
    for (std::size_t i = 0; i < values.size(); i += every) places.push_back(value(values[i]));
    return tics_at("x", places);
}

// Tics at powers of ten (on a short axis at 2 and 5 times these, too), labelled in readable units.
std::string decimal_tics(const Range& range, const std::string& unit) {
    if (!range.is_logarithmic()) return "";
    std::vector<std::string> places;
    const bool only_powers = range.high / range.low > 500;
    const int first = static_cast<int>(std::floor(std::log10(range.low))),
              last = static_cast<int>(std::ceil(std::log10(range.high))),
              every = only_powers ? 1 + (last - first) / static_cast<int>(kMostTics) : 1;
    for (int power = first; power <= last; power += every)
        for (const int digit : {1, 2, 5})
            if (const double place = digit * std::pow(10.0, power);
                place >= range.low && place <= range.high && (digit == 1 || !only_powers))
                places.push_back(
                    fmt::format("{} {}", in_quotes(readable(place * (1 + 1e-12), unit)), place));
    return tics_at("y", places);
}

std::size_t type_of(const Series& series) {
    return 1 + series.colour % kTypes;
}

std::string key_title(const Series& series) {
    return "title " + in_quotes(series.title, 64);
}

// Error bars as vectors, since gnuplot's yerrorbars erase their points. `columns`: x:y:dx:dy.
std::string error_bars(std::size_t series, const char* columns, const std::string& colour) {
    return fmt::format(
        "$d{} using {} with vectors heads size screen 0.005,90 linecolor {} dashtype 1 linewidth "
        "1.4 notitle",
        series, columns, colour);
}

// The font size at which a text of this length fits the width of a figure.
std::string font_for(std::size_t columns) {
    constexpr std::size_t kUsual = 13, kFitting = 70;
    return fmt::format("font ',{}'", kUsual * kFitting / std::max(columns, kFitting));
}

// The unit of the values on a linear axis, which the axis label shows.
struct Unit {
    double per_one = 1;
    std::string label;
};
Unit unit_of(const std::string& label, const std::string& unit, double most) {
    const auto [per_one, name] = shown_unit(most, unit);
    return {per_one, name.empty() ? label : fmt::format("{} [{}]", label, name)};
}

Range y_range(const Figure& figure, const Range& y) {
    if (figure.log_y) return y.widened(1.6);
    if (const double space = 0.04 * (y.high - y.low); figure.unit.empty() && space > 0)  // losses
        return {y.low - space, y.high + space};
    return {std::min(0.0, 1.1 * y.low), y.high > 0 ? 1.12 * y.high : 1};
}

std::string axes_of(const Figure& figure, const Range& x, const Range& y, const Unit& unit) {
    const double space = 0.04 * (x.high > x.low ? x.high - x.low : 1);
    const Range wide = x.widened(1.25), ends = y_range(figure, y);
    std::string text = fmt::format("set xlabel {}\nset ylabel {}\n", in_quotes(figure.x_label),
                                   in_quotes(figure.log_y ? figure.y_label : unit.label));
    text += figure.log_x
                ? fmt::format("set logscale x 2\nset xrange [{}:{}]\n", wide.low, wide.high)
                : fmt::format("set xrange [{}:{}]\n", x.low - space, x.high + space);
    text += (figure.log_y ? "set logscale y\n" + decimal_tics(ends, figure.unit) : "") +
            fmt::format("set yrange [{}:{}]\n", ends.low / unit.per_one, ends.high / unit.per_one);
    text += figure.x_bytes ? "set format x '%.0b %BB'\n" : plain_tics(figure.x_tics);  // "64 kiB"
    if (is_drawn(figure.shaded_to))
        text += fmt::format(
            "set object 1 rectangle from graph 0, graph 0 to first {}, graph 1 behind fillcolor "
            "rgb '#777777' fillstyle transparent solid 0.18 noborder\n",
            figure.shaded_to);
    return text;
}

int height_of(const Figure& figure) {
    constexpr int kKeyHeight = 50;  // of three rows
    const int series = static_cast<int>(figure.series.size());
    return figure.bars() ? 95 + kBarHeight * static_cast<int>(figure.categories.size()) +
                               (series < 2 ? 0 : kKeyHeight)
                         : std::max(kHeight, 110 + kEntryHeight * series);
}

// The names of the series without the words that all names begin with, mostly the model.
std::vector<std::string> short_titles(const Figure& figure) {
    std::vector<std::string> titles;
    std::set<std::string> beginnings;
    for (const auto& series : figure.series) {
        titles.push_back(base::one_line(series.title));
        if (series.look != Look::dashed && series.look != Look::marks)
            beginnings.insert(titles.back().substr(0, titles.back().find(", ")));
    }
    const std::string shared = beginnings.size() == 1 ? *beginnings.begin() + ", " : "";
    for (auto& title : titles)
        if (!shared.empty() && title.starts_with(shared)) title.erase(0, shared.size());
    return titles;
}

// A name right of the plot for each colour, as near to the line's end as other names allow.
std::string labels_of(const Figure& figure, const Range& ends) {
    struct Label {
        double at;  // 0 bottom, 1 top
        std::string text, colour;
    };
    const double line = 1.1 * kEntryHeight / (height_of(figure) - 90.0);
    std::vector<Label> labels;
    const auto titles = short_titles(figure);
    for (std::size_t i = 0; i < titles.size(); ++i) {
        const Series& series = figure.series[i];
        if (series.look == Look::marks || series.empty()) continue;
        const Label label{
            figure.log_y
                ? std::log(series.points.back().y / ends.low) / std::log(ends.high / ends.low)
                : (series.points.back().y - ends.low) / (ends.high - ends.low),
            titles[i],
            series.look == Look::dashed ? "rgb '#888888'"
                                        : fmt::format("linetype {}", type_of(series))};
        if (std::ranges::count(labels, label.colour, &Label::colour) == 0 && is_drawn(label.at))
            labels.push_back(label);
    }
    if (labels.size() < 2) return "";
    std::ranges::stable_sort(labels, std::greater(), &Label::at);
    std::string text;
    std::size_t widest = 0;
    double room = 1;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const double below = line * base::real(labels.size() - 1 - i);  // room for later names
        room = std::max(std::min(labels[i].at, room), below);
        text += fmt::format("set label {} at graph 1.02, graph {} left font ',10' textcolor {}\n",
                            in_quotes(labels[i].text), room, labels[i].colour);
        room -= line;
        widest = std::max(widest, base::columns_of(labels[i].text));
    }
    return text + fmt::format("set rmargin ending eq 'svg' ? {} : {}\n", 2 + widest * 3 / 5,
                              2 + widest * 4 / 5);
}

std::string curves(const Figure& figure) {
    Range x, y;
    for (const auto& series : figure.series)
        for (const auto& p : series.points) {
            x.add(p.x);
            for (const double one : {p.y, p.interval.low, p.interval.high}) y.add(one);
        }
    const Unit unit = unit_of(figure.y_label, figure.unit, figure.log_y ? NAN : y.high);
    const auto drawn = [&](double one) { return value(one / unit.per_one); };
    std::string data;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
        const Series& series = figure.series[i];
        data += fmt::format("$d{} << EOD\n", i);
        for (const auto& p : series.points)
            if (is_drawn(p.x))
                data += fmt::format("{} {} {} {}\n", p.x, drawn(p.y), drawn(p.interval.low),
                                    drawn(p.interval.high));
        data += "EOD\n";
        if (series.has_intervals())
            parts.push_back(
                series.look == Look::line
                    ? fmt::format("$d{} using 1:3:4 with filledcurves linetype {} fillstyle "
                                  "transparent solid 0.2 noborder notitle",
                                  i, type_of(series))
                    : error_bars(i, "1:3:(0):($4-$3)", fmt::format("{}", type_of(series))));
        parts.push_back(fmt::format(
            "$d{} using 1:2 with {} {}", i,
            fmt::format(fmt::runtime(kLooks[base::number_of(series.look)]), type_of(series)),
            series.look == Look::marks ? key_title(series) : "notitle"));
    }
    return data + axes_of(figure, x, y, unit) + labels_of(figure, y_range(figure, y)) + "plot " +
           base::join(parts, ", ") + "\n";
}

// gnuplot's plot of one series: a part of each bar.
std::string bar_part(const Figure& figure, std::size_t i) {
    return fmt::format(
        "$d{} using 2:1:2:3:($1-0.24):($1+0.1) with boxxyerror linetype {} dashtype 1 fillstyle "
        "solid 0.85 noborder {}",
        i, type_of(figure.series[i]),
        figure.series.size() < 2 ? "notitle" : key_title(figure.series[i]));
}

// The name of each bar and, in a figure of one series, the number at the bar's end (`reaches`).
std::string bar_names(const Figure& figure, const std::vector<double>& reaches) {
    std::string data = "$names << EOD\n";
    for (std::size_t row = 0; row < reaches.size(); ++row) {
        const std::string number =
            figure.series.size() == 1 ? readable(figure.series[0].points[row].y, figure.unit) : " ";
        std::string name = base::shortened(base::one_line(figure.categories[row]), kLongestText);
        std::ranges::replace(name, '"', '\'');
        data += fmt::format("-{} {} \"   {}\" \"{}\"\n", row, reaches[row], number, name);
    }
    return data + "EOD\n";
}

// Horizontal bars, the first category on top, its name above and its number right of the bar.
std::string bars(const Figure& figure) {
    std::vector<double> ends(figure.categories.size()), reaches = ends;  // with intervals
    for (const auto& series : figure.series)
        for (const auto& p : series.points)
            if (is_drawn(p.y)) reaches[static_cast<std::size_t>(p.x)] += p.y;
    const Unit unit = unit_of(figure.x_label, figure.unit, std::ranges::max(reaches));
    const auto drawn = [&](double one) { return value(one / unit.per_one); };
    std::string data;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
        data += fmt::format("$d{} << EOD\n", i);
        for (const auto& p : figure.series[i].points) {
            const auto row = static_cast<std::size_t>(p.x);
            const double from = ends[row];
            if (is_drawn(p.y)) ends[row] += p.y;
            for (const double one : {ends[row], p.interval.high})
                if (is_drawn(one)) reaches[row] = std::max(reaches[row], one);
            data += fmt::format("{} {} {} {} {}\n", -p.x, drawn(from), drawn(ends[row]),
                                drawn(p.interval.low), drawn(p.interval.high));
        }
        data += "EOD\n";
        parts.push_back(bar_part(figure, i));
        if (figure.series[i].has_intervals())
            parts.push_back(error_bars(i, "4:($1-0.07):($5-$4):(0)", "rgb 'black'"));
    }
    std::size_t longest = 0;
    for (const auto& name : figure.categories)
        longest = std::max(longest, std::min(base::columns_of(name), kLongestText));
    parts.push_back("$names using (0):($1+0.3):4 with labels left offset 0.3,0 " +
                    font_for(longest) + " notitle");
    parts.emplace_back("$names using 2:($1-0.07):3 with labels left notitle");
    for (double& reach : reaches) reach /= unit.per_one;
    const double most = std::ranges::max(reaches);
    return data + bar_names(figure, reaches) +
           fmt::format(
               "set xlabel {}\nset yrange [{}:0.75]\nunset ytics\nset border 1\n"
               "set xtics nomirror\nset xrange [0:{}]\nplot {}\n",
               in_quotes(unit.label), 0.55 - base::real(reaches.size()), most > 0 ? 1.25 * most : 1,
               base::join(parts, ", "));
}

}  // namespace

std::string script_of(const Figure& figure) {
    const int height = height_of(figure);
    const bool has_key = (figure.bars() && figure.series.size() > 1) ||
                         std::ranges::count(figure.series, Look::marks, &Series::look) > 0;
    return fmt::format(fmt::runtime(template_text("figure.gp")), figure.name, kWidth, height,
                       kWidth / 110.0, height / 110.0, 2 * kWidth, 2 * height,
                       in_quotes(figure.title) + ' ' + font_for(base::columns_of(figure.title)),
                       has_key ? "above left Left reverse maxrows 3 samplen 2 font ',10'" : "off") +
           (figure.bars() ? bars(figure) : curves(figure));
}

}  // namespace ranklab::report::figures
