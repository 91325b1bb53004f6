#include <cmath>
#include <set>

#include "report/predict/curve.hpp"
#include "stats/line_fit.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurvePoint;
using forecast::Scaling;
using model::PublishedCurve;

constexpr const char* kAll = "all";
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

struct Outcome {
    std::string family;
    std::size_t points = 0;  // used
    double to = 0;           // ranks of the forecast
    forecast::Refusal refusal = forecast::Refusal::too_few_points;
    // Relative errors of the time: of the forecast, of the last efficiency kept, of a + c log p.
    Cell error = {};
    double same = 0, logs = 0;
};

Outcome outcome_of(const PublishedCurve& curve) {
    Outcome outcome{curve.family};
    std::vector<CurvePoint> used;
    for (std::size_t i = 0; kPart * curve.x[i] <= curve.x.back(); ++i)
        used.push_back(point_of(curve, i));
    if (used.empty()) return outcome;
    const CurvePoint& last = used.back();
    CurvePoint target = last;
    for (std::size_t i = used.size(); i < curve.x.size(); ++i)
        if (curve.x[i] <= forecast::kReach * last.ranks) target = point_of(curve, i);
    const auto forecasts = forecast::forecast_curve(
        used, curve.weak ? Scaling::weak : Scaling::strong, {target.ranks});
    const auto& found = forecasts.all.front();
    const auto error = [&](double time) { return time / target.times_s[0] - 1; };
    const auto& [time, interval] = found.estimate;
    outcome.points = used.size();
    outcome.to = target.ranks;
    outcome.refusal = found.refusal;
    outcome.error = {error(time), {error(interval.low), error(interval.high)}};
    outcome.same = error(last.times_s[0] * (curve.weak ? 1 : last.ranks / target.ranks));
    outcome.logs = error(logarithmic(used, target.ranks));
    return outcome;
}

// Medians of the absolute errors, of one family or of all outcomes.
Row family_row(const std::string& family, const std::vector<Outcome>& outcomes) {
    std::vector<double> errors, same, logs;
    int refused = 0, near = 0, covered = 0;
    for (const auto& one : outcomes) {
        if (family != kAll && one.family != family) continue;
        if (one.refusal != forecast::Refusal::none) {
            ++refused;
            continue;
        }
        errors.push_back(std::abs(one.error.number));
        same.push_back(std::abs(one.same));
        logs.push_back(std::abs(one.logs));
        near += errors.back() <= kNear ? 1 : 0;
        covered += one.error.interval.low <= 0 && 0 <= one.error.interval.high ? 1 : 0;
    }
    if (errors.empty()) return {{family, 0, refused}};
    return {{family, errors.size(), refused, stats::quantile(errors, 0.5),
             stats::quantile(same, 0.5), stats::quantile(logs, 0.5), near, covered}};
}

}  // namespace

Validation validate(const std::vector<PublishedCurve>& curves) {
    const Column same{.name = "same_efficiency", .unit = "1", .head = "last efficiency kept"},
        logs{.name = "a_plus_c_log_p", .unit = "1", .head = "a + c log p"};
    Validation all;
    all.curves = {.title =
                      "Published curves, forecast from a quarter of their scale at most: relative "
                      "errors of the time",
                  .columns = {{.name = "curve", .role = Role::key},
                              {.name = "to"},
                              {.name = "error", .unit = "1", .interval = true},
                              same,
                              logs}};
    all.refused = {
        .title = "Refused",
        .columns = {{.name = "curve", .role = Role::key}, {.name = "points"}, {.name = "why"}}};
    all.families = {
        .title = "By family: medians of the absolute errors",
        .columns = {{.name = "family", .role = Role::key},
                    {.name = "forecast", .head = "n"},
                    {.name = "refused"},
                    {.name = "error", .unit = "1"},
                    same,
                    logs,
                    {.name = "within_10_percent", .head = "near"},
                    {.name = "in_interval", .head = "covered"}},
        .notes = {"n: forecasts; near: error within 10 %; covered: truth in the interval"}};
    std::vector<Outcome> outcomes;
    std::set<std::string> families;
    for (const auto& curve : curves) {
        const auto& one = outcomes.emplace_back(outcome_of(curve));
        families.insert(one.family);
        if (one.refusal == forecast::Refusal::none)
            all.curves.rows.push_back({{curve.name, one.to, one.error, one.same, one.logs}});
        else
            all.refused.rows.push_back({{curve.name, one.points, name_of(one.refusal)}});
    }
    for (const auto& family : families) all.families.rows.push_back(family_row(family, outcomes));
    all.families.rows.push_back(family_row(kAll, outcomes));
    return all;
}

}  // namespace ranklab::report::predict
