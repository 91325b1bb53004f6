#include <algorithm>
#include <cmath>

#include "report/frame/readable.hpp"
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

// What a curve's small part says, and the point that it is to forecast.
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

void add(Outcome& outcome, Frame& frame, const PublishedCurve& curve) {
    const Trial trial = trial_of(curve);
    forecast::CurveForecast found{.refusal = forecast::Refusal::too_few_points};
    if (!trial.used.empty())
        found = forecast::CurveFit(trial.used, curve.weak ? Scaling::weak : Scaling::strong)
                    .forecast(trial.target);
    frame.rows.push_back({{curve.name, curve.family, trial.used.size(), trial.target}});
    auto& row = frame.rows.back();
    if (found.refusal != forecast::Refusal::none) {
        outcome.refused += 1;
        row.cells.resize(frame.columns.size() - 1);
        row.cells.emplace_back(name_of(why_of(found.refusal)));
        return;
    }
    const auto error = [&](double time) { return time / trial.truth - 1; };
    const double ours = error(found.time_s), stays = error(same_efficiency(trial, curve.weak)),
                 logs = error(logarithmic(trial));
    row.cells.insert(
        row.cells.end(),
        {Cell(100 * ours, {100 * error(found.interval.low), 100 * error(found.interval.high)}),
         100 * stays, 100 * logs, "no"});
    outcome.ours.push_back(std::abs(ours));
    outcome.stays.push_back(std::abs(stays));
    outcome.logs.push_back(std::abs(logs));
    outcome.near += std::abs(ours) <= kNear ? 1 : 0;
    outcome.covered += found.interval.low <= trial.truth && trial.truth <= found.interval.high;
}

Row row_of(const std::string& family, const Outcome& of) {
    const double count = static_cast<double>(of.ours.size());
    if (of.ours.empty()) return {{family, 0, of.refused}};
    const auto median = [](const std::vector<double>& all) { return stats::quantile(all, 0.5); };
    const double naive = std::min(median(of.stays), median(of.logs));
    return {{family, count, of.refused, 100 * median(of.ours), 100 * naive, median(of.ours) / naive,
             of.near, of.covered}};
}

}  // namespace

Validation validate(const std::vector<PublishedCurve>& curves) {
    Validation all;
    all.curves = {.title = "Published curves, forecast from a quarter of their scale at most",
                  .columns = {{.name = "curve", .key = true},
                              {.name = "family"},
                              {.name = "points"},
                              {.name = "to"},
                              {.name = "error_percent", .interval = true},
                              {.name = "same_efficiency_percent"},
                              {.name = "a_plus_c_log_p_percent"},
                              {.name = "refused"}}};
    all.families = {.title = "By family",
                    .columns = {{.name = "family", .key = true},
                                {.name = "forecast"},
                                {.name = "refused"},
                                {.name = "median_error_percent"},
                                {.name = "better_naive_percent"},
                                {.name = "ratio", .unit = "1"},
                                {.name = "within_10_percent"},
                                {.name = "in_interval"}},
                    .notes = {"errors are of the time, without signs; the better naive forecast is "
                              "the one of the two with the smaller median error"}};
    InOrderMet<std::string, std::pair<std::string, Outcome>> families;
    Outcome total;
    for (const auto& curve : curves) {
        auto& [name, outcome] = families[curve.family];
        name = curve.family;
        add(outcome, all.curves, curve);
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
