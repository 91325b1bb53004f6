#include <fmt/format.h>

#include <array>

#include "report/page/sections.hpp"

namespace ranklab::report::page {
namespace {

using figures::Chart;
using figures::ChartSeries;
using figures::Look;

// As gnuplot's symbols at the points (kShapes in figures/chart.cpp).
std::string mark_of(const Chart& chart, const ChartSeries& series) {
    static constexpr std::array kMarks{"●", "▲", "■", "◆", "▼", "○", "△"};
    static constexpr std::array kLines{"━━", "━ ━", "╍╍", "━·━", "━··━"};
    static_assert(kLines.size() == figures::kDashKinds);
    if (chart.bars()) return chart.log_x ? "●" : "■";
    if (series.look == Look::line) return kLines[figures::dash_index(series.colour)];
    if (series.look == Look::dashed) return "╌╌";
    return series.look == Look::marks ? "○" : kMarks[figures::colour_index(series.colour)];
}

Data legend_data(const Chart& chart) {
    if (chart.series.size() < 2) return false;
    List series;
    for (const auto& one : figures::told_in_key(chart))
        series.push_back(Object{{"colour", std::to_string(figures::colour_index(one.colour) + 1)},
                                {"mark", mark_of(chart, one)},
                                {"label", figures::cut(one.title, 120)}});
    return Object{{"series", series}};
}

Data line_data(const std::vector<figures::Words>& cells) {
    List rest;
    for (std::size_t i = 1; i < cells.size(); ++i) rest.push_back(cell_data(cells[i]));
    return Object{{"first", cell_data(cells.front())}, {"cells", rest}};
}

Data table_data(const figures::NumberTable& table) {
    List heads, lines;
    for (const auto& head : table.heads) heads.push_back(head);
    for (const auto& row : table.rows) lines.push_back(line_data(row));
    return Object{{"titled", !table.title.empty()},
                  {"words", words_data(table.title)},
                  {"has_heads", !table.heads.empty()},
                  {"heads", heads},
                  {"lines", lines}};
}

Data figure_data(const figures::Figure& figure, figures::Drawer& drawer) {
    const Chart& chart = figure.chart;
    const auto svg = drawer.draw(chart);
    List tables;
    for (const auto& table : figure.tables) tables.push_back(table_data(table));
    if (tables.empty()) tables.push_back(table_data(figures::number_table(chart)));
    return Object{
        {"name", chart.name},
        {"title", figures::cut(chart.title, 300)},
        {"broad", chart.bars() || chart.wide},
        {"svg", svg ? Data(Object{{"view_box", svg->view_box}, {"drawing", svg->drawing}}) : Data(false)},
        {"why_not", drawer.why_not()},
        {"legend", legend_data(chart)},
        {"words", words_data(figure.caption)},
        {"tables", tables}};
}

}  // namespace

Data more_data(std::size_t more, const std::string& how) {
    if (more == 0) return false;
    return Object{{"count", fmt::to_string(more)}, {"how", if_any(how)}};
}

Data figure_row(const std::string& heading, const std::vector<figures::Figure>& figures,
                figures::Drawer& drawer, const std::vector<figures::NumberTable>& tables) {
    List drawn, below;
    for (const auto& table : tables)
        if (!table.rows.empty()) below.push_back(table_data(table));
    for (const auto& figure : figures)
        if (!figure.chart.empty()) drawn.push_back(figure_data(figure, drawer));
    if (drawn.empty()) return false;
    return Object{{"row_heading", if_any(heading)},
                  {"single", figures.size() == 1},
                  {"figures", drawn},
                  {"table", below}};
}

}  // namespace ranklab::report::page
