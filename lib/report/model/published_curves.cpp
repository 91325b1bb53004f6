#include "report/model/published_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/reference.hpp"
#include "stats/summary.hpp"

namespace ranklab::report::model {
namespace {

constexpr std::string_view kFirstLine = "# ranklab curves, schema 1",
                           kHeader =
                               "curve,family,kind,quantity,x_unit,first_beyond_one_node,y_unit,x,y,"
                               "caution,source,note";

template <class Value>
using Words = std::pair<std::string_view, Value>;
constexpr Words<bool> kKinds[] = {{"weak", true}, {"strong", false}};
constexpr Words<CurveQuantity> kQuantities[] = {{"rate", CurveQuantity::rate},
                                                {"rate-per-x", CurveQuantity::rate_per_x},
                                                {"time", CurveQuantity::time},
                                                {"bandwidth", CurveQuantity::bandwidth}};
constexpr Words<CurveCaution> kCautions[] = {
    {"", CurveCaution::none},
    {"no-communication", CurveCaution::no_communication},
    {"one-level", CurveCaution::one_level},
    {"contradicts", CurveCaution::contradicts},
    {"other-configuration", CurveCaution::other_configuration}};

// The errors here are a sentence's second half, after the file and line.
template <class Value, std::size_t count>
Value meant(const Words<Value> (&words)[count], const std::string& cell) {
    const auto found = std::ranges::find(words, std::string_view(cell), &Words<Value>::first);
    if (found == std::end(words))
        throw base::DataError(
            fmt::format("'{}' is not a word of its column", base::printable(cell, 40)));
    return found->second;
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
                         .weak = meant(kKinds, cells[2]),
                         .quantity = meant(kQuantities, cells[3]),
                         .caution = meant(kCautions, cells[9]),
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
        read_rows(path, kFirstLine, kHeader,
                  [&](const auto& cells, const auto&) { curves.push_back(curve_of(cells)); });
    } catch (base::DataError& error) {
        error.add_context(
            fmt::format("the published curves in '{}' cannot be used", path.string()));
        throw;
    }
    return curves;
}

}  // namespace ranklab::report::model
