#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/text.hpp"
#include "report/predict/curve.hpp"
#include "stats/line_fit.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurvePoint;
using forecast::Scaling;
using model::PublishedCurve;

constexpr double kPart = 4;    // points up to this part of the largest are used
constexpr double kNear = 0.1;  // an error that is near enough

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

// Relative errors of the time at `to`, or why there is no forecast.
struct Outcome {
    forecast::Refusal refusal = forecast::Refusal::too_few_points;
    double to = 0;
    Cell error = {};
    double naive = 0;
};

Outcome outcome_of(const PublishedCurve& curve) {
    std::vector<CurvePoint> used;
    for (std::size_t i = 0; kPart * curve.x[i] <= curve.x.back(); ++i)
        used.push_back(point_of(curve, i));
    if (used.empty()) return {};
    CurvePoint target = used.back();
    for (std::size_t i = used.size(); i < curve.x.size(); ++i)
        if (curve.x[i] <= forecast::kReach * used.back().ranks) target = point_of(curve, i);
    const auto forecasts = forecast::forecast_curve(
        used, curve.weak ? Scaling::weak : Scaling::strong, {target.ranks});
    const auto& found = forecasts.all.front();
    const auto error = [&](double time) { return time / target.times_s[0] - 1; };
    const auto& [time, interval] = found.estimate;
    return {found.refusal,
            target.ranks,
            {error(time), {error(interval.low), error(interval.high)}},
            error(logarithmic(used, target.ranks))};
}

}  // namespace

Frame validate(const std::vector<PublishedCurve>& curves) {
    Frame frame{.title =
                    "Published curves, forecast from a quarter of their scale at most: "
                    "relative errors of the time",
                .columns = {{.name = "curve", .key = true},
                            {.name = "to"},
                            {.name = "error", .unit = "1", .interval = true},
                            {.name = "naive", .unit = "1"}}};
    std::map<std::string, int> refused;
    std::vector<double> errors, naive;
    int near = 0, covered = 0;
    for (const auto& curve : curves) {
        const auto one = outcome_of(curve);
        if (one.refusal != forecast::Refusal::none) {
            ++refused[name_of(one.refusal)];
            continue;
        }
        frame.rows.push_back({{curve.name, one.to, one.error, one.naive}});
        errors.push_back(std::abs(one.error.number));
        naive.push_back(std::abs(one.naive));
        near += errors.back() <= kNear ? 1 : 0;
        covered += one.error.interval.low <= 0 && 0 <= one.error.interval.high ? 1 : 0;
    }
    std::vector<std::string> reasons;
    for (const auto& [name, count] : refused) reasons.push_back(fmt::format("{} {}", count, name));
    frame.notes = {
        "naive: the error of time = a + c log p",
        fmt::format("{} forecast: median error without its sign {:.3f}, naive {:.3f}; {} within 10 "
                    "%, {} in their intervals",
                    errors.size(), stats::quantile(errors, 0.5), stats::quantile(naive, 0.5), near,
                    covered),
        fmt::format("{} refused: {}", curves.size() - errors.size(), base::join(reasons, ", "))};
    return frame;
}

}  // namespace ranklab::report::predict
