// Forecasts the time of a step or job with more ranks by curves through measured points. The
// interval includes the uncertainty about the kind of curve.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "forecast/points.hpp"
#include "forecast/refusal.hpp"

namespace ranklab::forecast {

struct CurveForecast {
    double ranks = 0;
    Refusal refusal = Refusal::none;
    /// With the 95 % interval of a mean over as many processes as an average point has.
    Estimate estimate = {};
    std::vector<double> ranks_to_measure = {};  ///< rank counts that would end a refusal
};

/// A further measurement at `ranks`, which would narrow the interval at `target` ranks.
struct NextPoint {
    double ranks = 0, target = 0;
    double narrowing = 0;  ///< fraction of the interval's width
};

struct CurveForecasts {
    std::vector<CurveForecast> all = {};
    std::map<std::string_view, double> weights = {};  ///< posterior probability of each model
    /// The measurement that narrows the farthest forecast most per node-hour.
    std::optional<NextPoint> next = {};
};

/// Without `force` the largest forecast is this many times the ranks of the largest point.
inline constexpr double kReach = 4;

/// Returns a forecast for each of `ranks`. The points (at least one) have different rank counts.
/// `node_holds`: ranks that one node can hold; 0: not known.
CurveForecasts forecast_curve(std::vector<CurvePoint> points, Scaling scaling,
                              const std::vector<double>& ranks, double node_holds = 0,
                              bool force = false);

}  // namespace ranklab::forecast
