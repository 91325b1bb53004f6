#include <algorithm>
#include <cmath>
#include <set>

#include "report/predict/curve.hpp"
#include "stats/line_fit.hpp"
#include "stats/summary.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurvePoint;
using forecast::Scaling;
using model::PublishedCurve;

constexpr const char* kAll = "all";
constexpr double kPart = 4;    // points up to this part of the largest are used
constexpr double kNear = 0.1;  // an error that is near enough

double time_at(const PublishedCurve& curve, std::size_t i) {
    return 1 / (curve.rates_per_x[i] * (curve.weak ? 1 : curve.x[i]));
}

// The small part of a curve, and the point that it is to forecast.
struct Trial {
    std::vector<CurvePoint> used = {};
    double target = 0, truth = 0;
};

Trial trial_of(const PublishedCurve& curve) {
    Trial trial;
    for (std::size_t i = 0; i < curve.x.size(); ++i)
        if (kPart * curve.x[i] <= curve.x.back())
            trial.used.push_back({.ranks = curve.x[i],
                                  .times_s = {time_at(curve, i)},
                                  .nodes = curve.beyond_one_node(i) ? 2 : 1});
    for (std::size_t i = 0; i < curve.x.size() && !trial.used.empty(); ++i)
        if (curve.x[i] <= forecast::kReach * trial.used.back().ranks) {
            trial.target = curve.x[i];
            trial.truth = time_at(curve, i);
        }
    return trial;
}

double same_efficiency(const Trial& trial, bool weak) {
    const auto& last = trial.used.back();
    return last.times_s[0] * (weak ? 1 : last.ranks / trial.target);
}

double logarithmic(const Trial& trial) {
    std::vector<stats::LinePoint> points;
    for (const auto& point : trial.used)
        points.push_back({std::log2(point.ranks), point.times_s[0]});
    const auto line = stats::fit_line(points);
    return line.alpha + line.beta * std::log2(trial.target);
}

struct Outcome {
    const PublishedCurve* curve = nullptr;
    std::size_t points = 0;
    double target = 0;
    forecast::Refusal refusal = forecast::Refusal::too_few_points;
    Cell error = {};                                   // relative, of the forecast
    double stays = stats::kNone, logs = stats::kNone;  // those of the naive ones
};

Outcome outcome_of(const PublishedCurve& curve) {
    const Trial trial = trial_of(curve);
    Outcome outcome{.curve = &curve, .points = trial.used.size(), .target = trial.target};
    if (trial.used.empty()) return outcome;
    const forecast::CurveFit fit(trial.used, curve.weak ? Scaling::weak : Scaling::strong);
    const auto found = fit.forecast(trial.target);
    const auto error = [&](double time) { return time / trial.truth - 1; };
    outcome.refusal = found.refusal;
    outcome.error = {error(found.time_s), {error(found.interval.low), error(found.interval.high)}};
    outcome.stays = error(same_efficiency(trial, curve.weak));
    outcome.logs = error(logarithmic(trial));
    return outcome;
}

// The forecasts of a family, or of all curves.
Row row_of(const std::string& family, const std::vector<Outcome>& outcomes) {
    std::vector<double> ours, stays, logs;
    std::size_t refused = 0, near = 0, covered = 0;
    for (const auto& one : outcomes) {
        if (family != kAll && one.curve->family != family) continue;
        if (one.refusal != forecast::Refusal::none) {
            ++refused;
            continue;
        }
        ours.push_back(std::abs(one.error.number));
        stays.push_back(std::abs(one.stays));
        logs.push_back(std::abs(one.logs));
        near += ours.back() <= kNear ? 1 : 0;
        covered += one.error.interval.low <= 0 && 0 <= one.error.interval.high ? 1 : 0;
    }
    if (ours.empty()) return {{family, 0, refused}};
    const double error = stats::quantile(ours, 0.5),
                 naive = std::min(stats::quantile(stays, 0.5), stats::quantile(logs, 0.5));
    return {{family, ours.size(), refused, error, naive, error / naive, near, covered}};
}

}  // namespace

Validation validate(const std::vector<PublishedCurve>& curves) {
    Validation all;
    all.curves = {.title =
                      "Published curves, forecast from a quarter of their scale at most: "
                      "relative errors of the time",
                  .columns = {{.name = "curve", .key = true},
                              {.name = "to"},
                              {.name = "error", .unit = "1", .interval = true},
                              {.name = "same_efficiency", .unit = "1", .head = "naive 1"},
                              {.name = "a_plus_c_log_p", .unit = "1", .head = "naive 2"}},
                  .notes = {"naive 1: the last efficiency stays; naive 2: time = a + c log p"}};
    all.refused = {
        .title = "Refused",
        .columns = {{.name = "curve", .key = true}, {.name = "points"}, {.name = "why"}}};
    all.families = {
        .title = "By family: medians of the errors, without signs",
        .columns = {{.name = "family", .key = true},
                    {.name = "forecast", .head = "n"},
                    {.name = "refused"},
                    {.name = "error", .unit = "1"},
                    {.name = "naive", .unit = "1"},
                    {.name = "ratio", .unit = "1"},
                    {.name = "within_10_percent", .head = "in 10 %"},
                    {.name = "in_interval", .head = "covered"}},
        .notes = {
            "naive: the one of the two naive forecasts that errs less here; ratio: error / naive"}};
    std::vector<Outcome> outcomes;
    std::set<std::string> families;
    for (const auto& curve : curves) {
        outcomes.push_back(outcome_of(curve));
        families.insert(curve.family);
        const auto& one = outcomes.back();
        if (one.refusal == forecast::Refusal::none)
            all.curves.rows.push_back({{curve.name, one.target, one.error, one.stays, one.logs}});
        else
            all.refused.rows.push_back({{curve.name, one.points, name_of(one.refusal)}});
    }
    for (const auto& family : families) all.families.rows.push_back(row_of(family, outcomes));
    all.families.rows.push_back(row_of(kAll, outcomes));
    return all;
}

}  // namespace ranklab::report::predict
