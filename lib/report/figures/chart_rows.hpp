// Private to this room: a chart's numbers as a table, in whatever cells.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "report/figures/chart.hpp"

namespace ranklab::report::figures {

/// Heads and rows: of points a row each, of bars a row a category and a column a series. `Cells` makes a cell
/// of a text, of an x and of a point's y, and says which series are listed.
template <class Cells>
std::pair<std::vector<std::string>, std::vector<std::vector<typename Cells::Cell>>> chart_rows(
    const Chart& chart, const Cells& cells) {
    std::vector<std::string> heads{"series", chart.x_label, chart.y_label};
    std::vector<std::vector<typename Cells::Cell>> rows;
    if (!chart.bars()) {
        for (const auto& series : chart.series)
            for (const auto& point : series.points)
                if (cells.is_listed(series))
                    rows.push_back({cells.text(series.title), cells.x(point.x), cells.y(point)});
        return {heads, rows};
    }
    heads = {""};
    for (const auto& category : chart.categories) {
        rows.push_back({cells.text(category)});
        rows.back().resize(1 + chart.series.size());
    }
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        heads.push_back(chart.series[i].title);
        for (const auto& point : chart.series[i].points)
            rows[static_cast<std::size_t>(point.x)][1 + i] = cells.y(point);
    }
    return {heads, rows};
}

}  // namespace ranklab::report::figures
