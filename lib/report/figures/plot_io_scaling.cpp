#include "report/figures/plot_io_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "report/model/io_scaling.hpp"

namespace ranklab::report::figures {
namespace {

namespace fs = std::filesystem;
using results::Run;

std::string plural(double count, const char* what) {
    return fmt::format("{:.0f} {}{}", count, what, count == 1 ? "" : "s");
}

std::string series_title(const model::ScalingSeries& series, bool several_records) {
    const auto& base = series.points.front();
    std::string text =
        fmt::format("{}, over {}: base {}, {} s", series.rung, series.by_workers ? "workers" : "ranks",
                    plural(base.width, series.by_workers ? "worker" : "rank"), plot_text(base.time.median_s));
    for (const auto& what : {series.variant, base::printable(series.surroundings, 60)})
        if (!what.empty()) text += ", " + what;
    return several_records ? text + fmt::format(", {} records of size {}", series.files, series.size) : text;
}

// Points of one width lie side by side, each 4 % further, so that their intervals can be told apart.
double beside(double width, std::size_t series, std::size_t all) {
    const double step = std::min(0.04, 0.3 / static_cast<double>(all));
    return width * std::pow(1 + step, static_cast<double>(series) - static_cast<double>(all - 1) / 2);
}

std::string scaling_data(const std::vector<model::ScalingSeries>& all) {
    std::string text = "# drawn_at ranks_or_workers job_time_s low_s high_s speedup low high\n";
    for (std::size_t i = 0; i < all.size(); ++i) {
        text +=
            fmt::format("{}# {}\n", i == 0 ? "" : "\n\n", base::printable(series_title(all[i], true), 200));
        for (const auto& point : all[i].points)
            text +=
                fmt::format("{} {} {} {} {} {} {} {}\n", beside(point.width, i, all.size()), point.width,
                            plot_value(point.time.median_s), plot_value(point.time.s.low),
                            plot_value(point.time.s.high), plot_value(point.speedup.ratio),
                            plot_value(point.speedup.interval.low), plot_value(point.speedup.interval.high));
    }
    return text;
}

bool has_intervals(const model::ScalingSeries& series) {
    return std::any_of(series.points.begin(), series.points.end(), [](const model::ScalingPoint& point) {
        return !std::isnan(point.speedup.interval.low);
    });
}

// Titles say which records where they are not the same in all series.
bool several_records(const std::vector<model::ScalingSeries>& all) {
    return std::any_of(all.begin(), all.end(), [&](const model::ScalingSeries& one) {
        return one.files != all.front().files || one.size != all.front().size;
    });
}

std::string scaling_axes(const std::vector<model::ScalingSeries>& all) {
    std::set<double> widths;
    for (const auto& series : all)
        for (const auto& point : series.points) widths.insert(point.width);
    std::string tics;
    for (const double width : widths)
        tics += fmt::format("{}'{:.0f}' {}", tics.empty() ? "" : ", ", width, width);
    return fmt::format(
        "set logscale x 2\nset xrange [{}:{}]\nset xtics ({})\nset yrange [0:*]\nset xlabel 'ranks, or "
        "workers (logarithmic; points of one count lie side by side)'\nset ylabel 'speedup over the base "
        "that the key names'\n",
        *widths.begin() / 1.3, *widths.rbegin() * 1.3, tics);
}

std::set<double> bases_of(const std::vector<model::ScalingSeries>& all) {
    std::set<double> bases;
    for (const auto& series : all) bases.insert(series.points.front().width);
    return bases;
}

std::string linear_lines(const std::vector<model::ScalingSeries>& all) {
    std::string text;
    for (const double base : bases_of(all))
        text +=
            fmt::format(", x / {}.0 with lines dashtype 2 linecolor rgb 'gray40' title 'linear, from {:.0f}'",
                        base, base);
    return text.substr(2);
}

// gnuplot's, but for its fifth, a yellow that is hard to see on white.
std::size_t colour_of(std::size_t series) {
    const std::size_t colour = series % 7 + 1;
    return colour < 5 ? colour : colour + 1;
}

std::string scaling_script(const std::vector<model::ScalingSeries>& all) {
    const std::string title =
        several_records(all) ? ""
                             : fmt::format(" of {} records of size {}", all.front().files, all.front().size);
    const int key = 24 * static_cast<int>(all.size() + bases_of(all).size());
    const double height = 600 + key;
    std::string text =
        gnuplot_head("plot_io_scaling.gp", 960, static_cast<int>(height)) +
        "set output 'io_scaling.'.ending\nset grid\nset samples 400\n" +
        fmt::format(
            "set bmargin at screen {:.4f}\nset key at screen 0.1, screen {:.4f} left top Left reverse "
            "maxcols "
            "1\n",
            (key + 70) / height, (key + 16) / height) +
        fmt::format("set title {}\n", gnuplot_quoted("Measured speedup of job times" + title +
                                                     ", 95 % intervals (none below 6 repetitions)")) +
        scaling_axes(all) + "plot " + linear_lines(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string look = fmt::format("linecolor {} pointtype {}", colour_of(i), 4 + 2 * (i % 6) + 1);
        text += fmt::format(", 'io_scaling.dat' index {} using 1:6 with points {} pointsize 1.2 title {}", i,
                            look, gnuplot_quoted(series_title(all[i], several_records(all))));
        if (has_intervals(all[i]))
            text += ", " + gnuplot_interval(fmt::format("index {}", i), 7,
                                            fmt::format("linecolor {}", colour_of(i)));
    }
    return text + "\n" + gnuplot_tail("plot_io_scaling.gp");
}

}  // namespace

std::optional<Drawing> prepare_io_scaling(const std::vector<Run>& runs, const fs::path& folder) {
    const auto series = model::scaling_series(runs);
    if (series.empty()) return std::nullopt;
    return write_drawing(folder, "plot_io_scaling", "io_scaling", scaling_data(series),
                         scaling_script(series));
}

}  // namespace ranklab::report::figures
