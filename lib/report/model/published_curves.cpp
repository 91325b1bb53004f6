#include "report/model/published_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/reference.hpp"
#include "stats/summary.hpp"

namespace ranklab::report::model {
namespace {

constexpr std::string_view kFirstLineOfCurves = "# ranklab curves, schema 1",
                           kHeaderOfCurves =
                               "curve,family,kind,quantity,x_unit,first_beyond_one_node,y_unit,x,y,"
                               "caution,source,note";

// In the order of the enums.
constexpr std::string_view kKinds[] = {"strong", "weak"},
                           kQuantities[] = {"rate", "rate-per-x", "time", "bandwidth"},
                           kCautions[] = {"", "no-communication", "one-level", "contradicts",
                                          "other-configuration"};

// The errors here are a sentence's second half, after the file and line.
std::ptrdiff_t place_in(std::span<const std::string_view> words, const std::string& cell) {
    const auto found = std::ranges::find(words, cell);
    if (found == words.end())
        throw base::DataError(
            fmt::format("'{}' is not a word of its column", base::printable(cell, 40)));
    return found - words.begin();
}

double positive(const std::string& text) {
    const auto value = base::number_in(text);
    if (!value || !std::isfinite(*value) || *value <= 0)
        throw base::DataError(
            fmt::format("'{}' is not a number above 0", base::printable(text, 40)));
    return *value;
}

std::vector<double> numbers(const std::string& cell) {
    std::vector<double> found;
    for (const auto& text : base::split(cell, ' ')) found.push_back(positive(text));
    return found;
}

PublishedCurve curve_of(const std::vector<std::string>& cells) {
    PublishedCurve curve{.name = cells[0],
                         .family = cells[1],
                         .weak = place_in(kKinds, cells[2]) == 1,
                         .quantity = CurveQuantity(place_in(kQuantities, cells[3])),
                         .caution = CurveCaution(place_in(kCautions, cells[9])),
                         .x_unit = cells[4],
                         .y_unit = cells[6],
                         .x = numbers(cells[7]),
                         .y = numbers(cells[8]),
                         .first_beyond_one_node = cells[5].empty() ? 0 : positive(cells[5]),
                         .source = cells[10],
                         .note = cells[11]};
    if (curve.x.size() < 2 || curve.x.size() != curve.y.size() ||
        !std::ranges::is_sorted(curve.x, std::less_equal()))
        throw base::DataError("x is not ascending, or has not as many numbers as y, at least 2");
    return curve;
}

}  // namespace

double PublishedCurve::efficiency(std::size_t point) const {
    const double y_ratio = y[point] / y[0], x_ratio = x[point] / x[0];
    switch (quantity) {
        case CurveQuantity::rate:
            return y_ratio / x_ratio;
        case CurveQuantity::rate_per_x:
            return y_ratio;
        case CurveQuantity::time:
            return 1 / (y_ratio * x_ratio);
        case CurveQuantity::bandwidth:
            break;
    }
    return stats::kNone;
}

std::vector<PublishedCurve> read_published_curves(const std::filesystem::path& path) {
    std::vector<PublishedCurve> curves;
    try {
        read_rows(path, kFirstLineOfCurves, kHeaderOfCurves,
                  [&](const auto& cells, const auto&) { curves.push_back(curve_of(cells)); });
    } catch (base::DataError& error) {
        error.add_context(
            fmt::format("the published curves in '{}' cannot be used", path.string()));
        throw;
    }
    return curves;
}

}  // namespace ranklab::report::model
