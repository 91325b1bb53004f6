#include <map>
#include <utility>

#include "report/figures/chart_rows.hpp"
#include "report/figures/figure.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostListed = 400;  // points of a series: more are for no reader
constexpr std::size_t kLongest = 120;

Words words_of(const ChartPoint& point) {
    return point.shown.empty() ? Words{model::number(point.y)} : point.shown;
}

struct NumberRows {
    using Cell = Words;
    Cell text(const std::string& text) const { return {cut(text, kLongest)}; }
    Cell x(double value) const { return {shown(value)}; }
    Cell y(const ChartPoint& point) const { return words_of(point); }
    bool is_listed(const ChartSeries& series) const {
        return series.look != Look::dashed && series.points.size() <= kMostListed;
    }
};

}  // namespace

NumberTable number_table(const Chart& chart) {
    auto [heads, rows] = chart_rows(chart, NumberRows());
    for (auto& head : heads) head = cut(head, kLongest);
    return {{}, std::move(heads), std::move(rows)};
}

// Bases, which have a mark of their own, stand above what is measured by them.
NumberTable joined_table(const std::vector<Figure>& figures) {
    NumberTable table{{}, {"series", figures.front().chart.x_label}, {}};
    for (const auto& figure : figures) table.heads.push_back(figure.chart.y_label);
    std::map<std::pair<std::string, double>, std::size_t> places;
    for (const Look look : {Look::marks, Look::points}) {
        for (std::size_t i = 0; i < figures.size(); ++i) {
            for (const auto& series : figures[i].chart.series) {
                for (const auto& point : series.points) {
                    if (series.look != look || series.title == kOversubscribed) break;
                    const auto [place, fresh] =
                        places.try_emplace({series.title, point.x}, table.rows.size());
                    if (fresh)
                        table.rows.push_back({{cut(series.title, kLongest)}, {model::number(point.x)}});
                    table.rows[place->second].resize(2 + figures.size());
                    table.rows[place->second][2 + i] = words_of(point);
                    if (fresh && point.crowded)
                        append(table.rows[place->second][1], {" ", soft(kOversubscribed)});
                }
            }
        }
    }
    return table;
}

ChartPoint estimate_point(double x, const model::Group& group, std::string_view measurement) {
    const model::Estimate found = model::estimate(group, measurement);
    return {x, found.value, found.ci, estimate_of(group, measurement)};
}

}  // namespace ranklab::report::figures
