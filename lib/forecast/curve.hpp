// Forecasts the time of a step or job with more ranks by curves through measured points. The
// interval includes the uncertainty about the kind of curve, also that it is none of the models,
// and about what the first step from one node to several costs.
#pragma once

#include <optional>
#include <vector>

#include "forecast/prior.hpp"
#include "forecast/refusal.hpp"
#include "stats/summary.hpp"

namespace ranklab::forecast {

struct Estimate {
    double time_s = stats::kNone;
    stats::Interval interval = {};
};

/// What makes an interval wide.
enum class Doubt : std::size_t {
    noise,        ///< runs of one point scatter
    curve,        ///< several models and coefficients fit the points
    discrepancy,  ///< the true curve may stray from all models
    crossing      ///< what the first step from one node to several costs, and further nodes
};
inline constexpr std::size_t kDoubts = 4;

struct CurveForecast {
    double ranks = 0;
    Refusal refusal = Refusal::none;
    double nodes = 0;  ///< 0: not known, so that the interval allows for a crossing
    /// The time, with the 95 % interval of a mean over n launches (n: average per point).
    Estimate estimate = {};
    Doubt widest = Doubt::noise;  ///< contributes most to the variance of the logarithm
    double share = stats::kNone;  ///< the fraction of the variance that `widest` causes
    std::vector<double> ranks_to_measure = {};  ///< rank counts to measure, to end a refusal
};

/// A further measurement at `ranks`, which would narrow the interval at `target` ranks.
struct NextPoint {
    double ranks = 0, target = 0;
    stats::Interval after = {};  ///< the interval expected with it
};

struct CurveForecasts {
    std::vector<CurveForecast> all = {};
    Prior posterior = {};  ///< probabilities after the points; empty below three points
    /// The measurement that narrows the farthest forecast's interval most per rank-hour.
    std::optional<NextPoint> next = {};
};

/// Without `force` a forecast has at most this many times the ranks of the largest point.
inline constexpr double kReach = 4;

/// Returns a forecast for each of `ranks`. The points (at least one) have different rank counts.
/// `with_next`: also looks for the next measurement, which takes 6 times as long.
CurveForecasts forecast_curve(ScalingCurve curve, const Prior& prior,
                              const std::vector<double>& ranks, bool force = false,
                              bool with_next = false);

}  // namespace ranklab::forecast
