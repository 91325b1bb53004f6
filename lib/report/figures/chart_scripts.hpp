// Private to this room: what chart.cpp puts together into gnuplot's data and script.
#pragma once

#include <cmath>
#include <string>

#include "report/figures/chart.hpp"

namespace ranklab::report::figures {

struct Range {
    double low = INFINITY, high = -INFINITY;
    void add(double value);
};

/// One block a series: the n-th block is gnuplot's `index n`.
std::string block_head(const Chart& chart, std::size_t series);
std::string colour_of(const ChartSeries& series);
bool has_intervals(const ChartSeries& series);
std::string key_title(const ChartSeries& series, Medium medium);

std::string xy_data(const Chart& chart);
std::string xy_script(const Chart& chart, Medium medium);
/// Bars lie; where their axis is logarithmic, which has no zero to begin at, dots stand in their places.
std::string bar_data(const Chart& chart);
std::string bar_script(const Chart& chart, Medium medium);

/// One point of a series. A plot of that alone, without a title of its own, is titled by what it is drawn
/// from; from that hover_text makes what a page's pointer shows there. "" for another title.
std::string one_point(std::size_t series, std::size_t point);
std::string hover_text(const Chart& chart, std::string_view title);
/// Which points of a series have one: too many would make the page slow.
bool has_hover(const Chart& chart, std::size_t series);

}  // namespace ranklab::report::figures
