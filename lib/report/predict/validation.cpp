#include <fmt/format.h>

#include <cmath>

#include "report/predict/curve.hpp"
#include "stats/line_fit.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurvePoint;
using forecast::Scaling;
using model::PublishedCurve;

constexpr double kPart = 4;    // forecasts use points up to the largest scale / kPart
constexpr double kNear = 0.1;  // relative error that counts as near

CurvePoint point_of(const PublishedCurve& curve, std::size_t i) {
    return {.ranks = curve.x[i],
            .times_s = {1 / (curve.rates_per_x[i] * (curve.weak ? 1 : curve.x[i]))},
            .nodes = curve.beyond_one_node(i) ? 2 : 1};
}

double logarithmic(const std::vector<CurvePoint>& points, double ranks) {
    std::vector<stats::LinePoint> logs;
    for (const auto& point : points) logs.push_back({std::log2(point.ranks), point.times_s[0]});
    const auto line = stats::fit_line(logs);
    return line.alpha + line.beta * std::log2(ranks);
}

// Adds a row to the forecasts or to the refusals.
void add(Validation& all, const PublishedCurve& curve) {
    std::vector<CurvePoint> used;
    for (std::size_t i = 0; kPart * curve.x[i] <= curve.x.back(); ++i)
        used.push_back(point_of(curve, i));
    const auto refuse = [&](forecast::Refusal why) {
        all.refused.rows.push_back({{curve.name, used.size(), name_of(why)}});
    };
    if (used.empty()) return refuse(forecast::Refusal::too_few_points);
    const CurvePoint& last = used.back();
    CurvePoint target = last;
    for (std::size_t i = used.size(); i < curve.x.size(); ++i)
        if (curve.x[i] <= forecast::kReach * last.ranks) target = point_of(curve, i);
    const auto forecasts = forecast::forecast_curve(
        used, curve.weak ? Scaling::weak : Scaling::strong, {target.ranks});
    const auto& found = forecasts.all.front();
    if (found.refusal != forecast::Refusal::none) return refuse(found.refusal);
    const auto error = [&](double time) { return time / target.times_s[0] - 1; };
    const auto& [time, interval] = found.estimate;
    all.curves.rows.push_back(
        {{curve.name, target.ranks, Cell(error(time), {error(interval.low), error(interval.high)}),
          error(last.times_s[0] * (curve.weak ? 1 : last.ranks / target.ranks)),
          error(logarithmic(used, target.ranks))}});
}

// Counts and errors of all forecasts, in one sentence.
std::string summary_of(const Validation& all) {
    std::size_t near = 0, covered = 0;
    std::vector<double> errors[3];  // of the forecast, and of the two baselines
    for (const auto& row : all.curves.rows) {
        for (std::size_t i = 0; i < 3; ++i) errors[i].push_back(std::abs(row.cells[2 + i].number));
        const auto& interval = row.cells[2].interval;
        near += errors[0].back() <= kNear ? 1 : 0;
        covered += interval.low <= 0 && 0 <= interval.high ? 1 : 0;
    }
    const auto median = [](const auto& of) { return percent_text(100 * stats::quantile(of, 0.5)); };
    return fmt::format(
        "{} forecasts, {} refused; median absolute error {} (last efficiency kept {}, a + c log p "
        "{}); within 10 %: {}; truth in the interval: {}",
        all.curves.rows.size(), all.refused.rows.size(), median(errors[0]), median(errors[1]),
        median(errors[2]), near, covered);
}

}  // namespace

Validation validate(const std::vector<PublishedCurve>& curves) {
    Validation all;
    all.curves = {
        .title =
            "Published curves, forecast from a quarter of their scale at most: relative "
            "errors of the time",
        .columns = {{.name = "curve", .role = Role::key},
                    {.name = "to"},
                    {.name = "error", .unit = "1", .interval = true},
                    {.name = "same_efficiency", .unit = "1", .head = "last efficiency kept"},
                    {.name = "a_plus_c_log_p", .unit = "1", .head = "a + c log p"}}};
    all.refused = {
        .title = "Refused",
        .columns = {{.name = "curve", .role = Role::key}, {.name = "points"}, {.name = "why"}}};
    for (const auto& curve : curves) add(all, curve);
    all.curves.notes = {summary_of(all)};
    return all;
}

}  // namespace ranklab::report::predict
