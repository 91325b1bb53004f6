// Private to this room: a picture as numbers, and gnuplot's script for it.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "report/figures/gnuplot.hpp"
#include "report/figures/words.hpp"
#include "stats/summary.hpp"

namespace ranklab::report::figures {

/// Okabe and Ito's colours that are legible on white, told apart by colour-blind readers too. A page has its
/// own values of them for dark backgrounds, under the names --s1, --s2, ...
inline constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#e69f00", "#56b4e9", "#777777"};
inline std::size_t colour_index(std::size_t series) {
    return series % kColours.size();
}

/// Of lines: how they are dashed, told apart without colours too. A page's legend has the same.
inline constexpr std::size_t kDashKinds = 5;
inline std::size_t dash_index(std::size_t series) {
    return (series + series / kColours.size()) % kDashKinds;
}

struct ChartPoint {
    double x = 0;  ///< of bars: the number of the category, from 0
    double y = 0;
    stats::Interval interval = {};
    Words shown = {};      ///< the number in the figure's table; none: y
    bool crowded = false;  ///< more wanted to compute than could at once
};

enum class Look { points, line, dashed, marks };

struct ChartSeries {
    std::string title;
    Look look = Look::points;
    std::size_t colour = 0;  ///< an index, of kColours when taken modulo their number
    std::vector<ChartPoint> points;
};

struct Chart {
    std::string name = {};  ///< of its files, without ending
    std::string title = {};
    std::string x_label = {}, y_label = {};  ///< bars lie: theirs is the length's, x_label
    std::vector<ChartSeries> series = {};
    std::vector<std::string> categories = {};  ///< of bars; not empty: series are stacked on each other
    bool log_x = false, log_y = false;         ///< of log_x there are dots in the bars' places
    std::vector<double> x_tics = {};           ///< empty: gnuplot's own, or where x_bytes 64 KiB, 1 MiB, ...
    bool x_bytes = false;                      ///< of a logarithmic x
    bool y_seconds = false;                    ///< of a logarithmic y: its tics are 20 us, 1 ms, ...
    bool wide = false;                         ///< for long lines; others fit three in a row
    double shaded_to = stats::kNone;           ///< from the left edge to here: warm-up

    bool bars() const { return !categories.empty(); }
    bool empty() const;
    /// Calls `take` with each point of each series.
    template <class Take>
    void visit(Take take) const {
        for (const auto& one : series)
            for (const auto& point : one.points) take(point);
    }
};

/// The series of a legend: of ideal lines of one name, each in the colour of its own series, the first alone.
std::vector<ChartSeries> told_in_key(const Chart& chart);

/// For a page: no title, no key, no caption, no background; the page has them. For paper: all, .svg and .pdf.
enum class Medium { page, paper };

/// The chart as it is drawn: without what no picture has room for. Its points are those that hover_text is
/// of.
Chart with_what_is_drawn(Chart chart);

/// Writes FOLDER/NAME.dat and FOLDER/plot_NAME.gp. EnvironmentError where it cannot. On paper the caption
/// stands below the picture.
Drawing prepare_chart(const Chart& chart, const Words& caption, const std::filesystem::path& folder,
                      Medium medium);

}  // namespace ranklab::report::figures
