#include <fmt/format.h>

#include <charconv>

#include "report/figures/chart_scripts.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostHovered = 120;  // points of a series
constexpr std::string_view kIndex = "index ", kEvery = " every ::";

std::string number_of(const ChartPoint& point) {
    if (!point.shown.empty()) return plain_text(point.shown);
    const std::string value = model::number(point.y);
    if (std::isnan(point.interval.low)) return value;
    return fmt::format("{} [{} .. {}]", value, model::number(point.interval.low),
                       model::number(point.interval.high));
}

std::size_t number_behind(std::string_view text, std::string_view word) {
    std::size_t number = SIZE_MAX;
    const std::size_t at = text.find(word);
    if (at != std::string_view::npos)
        std::from_chars(text.data() + at + word.size(), text.data() + text.size(), number);
    return number;
}

std::string place_of(const Chart& chart, const ChartPoint& point) {
    if (chart.bars()) return chart.categories[static_cast<std::size_t>(point.x)];
    return fmt::format("{}: {}", chart.x_label, model::number(point.x));
}

}  // namespace

std::string one_point(std::size_t series, std::size_t point) {
    return fmt::format("{}{}{}{}::{}", kIndex, series, kEvery, point, point);
}

bool has_hover(const Chart& chart, std::size_t series) {
    const ChartSeries& one = chart.series[series];
    return one.look != Look::dashed && one.points.size() <= kMostHovered;
}

std::string hover_text(const Chart& chart, std::string_view title) {
    const std::size_t series = number_behind(title, kIndex), point = number_behind(title, kEvery);
    if (series >= chart.series.size() || point >= chart.series[series].points.size()) return "";
    const ChartPoint& at = chart.series[series].points[point];
    const std::string& label = chart.bars() ? chart.x_label : chart.y_label;
    return cut(
        fmt::format("{}; {}; {}: {}", chart.series[series].title, place_of(chart, at), label, number_of(at)),
        400);
}

}  // namespace ranklab::report::figures
