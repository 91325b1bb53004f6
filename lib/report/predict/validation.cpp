#include <algorithm>
#include <cmath>

#include "report/predict/curve.hpp"
#include "stats/summary.hpp"

namespace ranklab::report::predict {
namespace {

using forecast::CurvePoint;
using forecast::Scaling;
using model::CurveQuantity;
using model::PublishedCurve;

constexpr double kPart = 4;    // points up to this part of the largest are used
constexpr double kNear = 0.1;  // an error that is near enough

double time_at(const PublishedCurve& curve, std::size_t i) {
    const double x = curve.weak ? curve.x[i] : 1;
    switch (curve.quantity) {
        case CurveQuantity::rate:
            return x / curve.y[i];
        case CurveQuantity::time:
            return curve.y[i];
        case CurveQuantity::rate_per_x:
        case CurveQuantity::bandwidth:
            break;
    }
    return 1 / curve.y[i];
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

// a + c log p by least squares.
double logarithmic(const Trial& trial) {
    const auto n = static_cast<double>(trial.used.size());
    double x = 0, y = 0, xx = 0, xy = 0;
    for (const auto& point : trial.used) {
        const double log = std::log2(point.ranks), time = point.times_s[0];
        x += log;
        y += time;
        xx += log * log;
        xy += log * time;
    }
    const double c = (n * xy - x * y) / (n * xx - x * x);
    return (y - c * x) / n + c * std::log2(trial.target);
}

struct Outcome {
    std::vector<double> ours, stays, logs;  // errors, without signs
    double refused = 0, near = 0, covered = 0;
};

void add(Outcome& outcome, Validation& all, const PublishedCurve& curve) {
    const Trial trial = trial_of(curve);
    forecast::CurveForecast found{.refusal = forecast::Refusal::too_few_points};
    if (!trial.used.empty())
        found = forecast::CurveFit(trial.used, curve.weak ? Scaling::weak : Scaling::strong)
                    .forecast(trial.target);
    if (found.refusal != forecast::Refusal::none) {
        outcome.refused += 1;
        all.refused.rows.push_back(
            {{curve.name, trial.used.size(), name_of(why_of(found.refusal))}});
        return;
    }
    const auto error = [&](double time) { return time / trial.truth - 1; };
    const double ours = error(found.time_s), stays = error(same_efficiency(trial, curve.weak)),
                 logs = error(logarithmic(trial));
    all.curves.rows.push_back(
        {{curve.name, trial.target,
          Cell(ours, {error(found.interval.low), error(found.interval.high)}), stays, logs}});
    outcome.ours.push_back(std::abs(ours));
    outcome.stays.push_back(std::abs(stays));
    outcome.logs.push_back(std::abs(logs));
    outcome.near += std::abs(ours) <= kNear ? 1 : 0;
    outcome.covered += found.interval.low <= trial.truth && trial.truth <= found.interval.high;
}

Row row_of(const std::string& family, const Outcome& of) {
    if (of.ours.empty()) return {{family, 0, of.refused}};
    const auto median = [](const std::vector<double>& all) { return stats::quantile(all, 0.5); };
    const double naive = std::min(median(of.stays), median(of.logs));
    return {{family, of.ours.size(), of.refused, median(of.ours), naive, median(of.ours) / naive,
             of.near, of.covered}};
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
    all.families = {.title = "By family: medians of the errors, without signs",
                    .columns = {{.name = "family", .key = true},
                                {.name = "forecast", .head = "n"},
                                {.name = "refused"},
                                {.name = "error", .unit = "1"},
                                {.name = "naive", .unit = "1"},
                                {.name = "ratio", .unit = "1"},
                                {.name = "within_10_percent", .head = "in 10 %"},
                                {.name = "in_interval", .head = "covered"}},
                    .notes = {"naive: the one of the two naive forecasts that errs less here"}};
    InOrderMet<std::string, std::pair<std::string, Outcome>> families;
    Outcome total;
    for (const auto& curve : curves) {
        auto& [name, outcome] = families[curve.family];
        name = curve.family;
        add(outcome, all, curve);
    }
    for (const auto& [name, outcome] : families.all()) {
        all.families.rows.push_back(row_of(name, outcome));
        for (const auto& [of_all, one] : {std::pair{&total.ours, &outcome.ours},
                                          {&total.stays, &outcome.stays},
                                          {&total.logs, &outcome.logs}})
            of_all->insert(of_all->end(), one->begin(), one->end());
        total.refused += outcome.refused;
        total.near += outcome.near;
        total.covered += outcome.covered;
    }
    all.families.rows.push_back(row_of("all", total));
    return all;
}

}  // namespace ranklab::report::predict
