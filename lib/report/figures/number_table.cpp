#include <map>
#include <utility>

#include "report/figures/figure.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostListed = 400;  // points of a series: more are for no reader
constexpr std::size_t kLongest = 120;

Words words_of(const ChartPoint& point) {
    return point.shown.empty() ? Words{model::number(point.y)} : point.shown;
}

NumberTable table_of_points(const Chart& chart) {
    NumberTable table{{}, {"series", chart.x_label, chart.y_label}, {}};
    for (const auto& series : chart.series) {
        if (series.look == Look::dashed || series.points.size() > kMostListed) continue;
        for (const auto& point : series.points)
            table.rows.push_back({{cut(series.title, kLongest)}, {model::number(point.x)}, words_of(point)});
    }
    return table;
}

NumberTable table_of_bars(const Chart& chart) {
    NumberTable table{{}, {""}, {}};
    for (const auto& category : chart.categories) {
        table.rows.push_back({{cut(category, kLongest)}});
        table.rows.back().resize(1 + chart.series.size());
    }
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        table.heads.push_back(cut(chart.series[i].title, kLongest));
        for (const auto& point : chart.series[i].points)
            table.rows[static_cast<std::size_t>(point.x)][1 + i] = words_of(point);
    }
    return table;
}

}  // namespace

NumberTable number_table(const Chart& chart) {
    return chart.bars() ? table_of_bars(chart) : table_of_points(chart);
}

bool is_ringed(const Chart& chart, const ChartPoint& at) {
    bool ringed = false;
    for (const auto& series : chart.series)
        for (const auto& point : series.points)
            ringed = ringed || (series.title == kOversubscribed && point.x == at.x && point.y == at.y);
    return ringed;
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
                    if (fresh && is_ringed(figures[i].chart, point))
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
