// How the time of a step or job goes on with more ranks: curves through measured points, with an
// interval that includes the choice of the curve. Pure functions.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "forecast/refusal.hpp"
#include "stats/summary.hpp"

namespace ranklab::forecast {

/// Strong: all ranks share one work. Weak: each rank has its own.
enum class Scaling { strong, weak };
inline const char* name_of(Scaling scaling) {
    return scaling == Scaling::strong ? "strong" : "weak";
}

/// One number of ranks (or nodes, GPUs).
struct CurvePoint {
    double ranks = 0;
    std::vector<double> times_s = {};  ///< above 0; one for each process that measured it, in order
    int nodes = 0;                     ///< with its ranks; 0: not known
    /// Relative standard deviation of one time, where the source says it; NaN: from the times.
    double deviation = stats::kNone;

    double middle() const;  ///< the geometric mean of the times
};

struct Estimate {
    double time_s = stats::kNone;
    stats::Interval interval = {};
};

struct CurveForecast {
    double ranks = 0;
    Refusal refusal = Refusal::none;
    Estimate estimate = {};  ///< 95 %, of the mean of as many processes as the points have
    std::vector<double> ranks_to_measure = {};  ///< where refused: numbers of ranks to measure
};

/// A further measurement, and the share by which it would narrow the interval at `target`.
struct NextPoint {
    double ranks = 0, target = 0, narrowing = 0;
};

struct CurveForecasts {
    std::vector<CurveForecast> all = {};
    /// The models that have enough points, and their shares of the posterior.
    std::map<std::string_view, double> weights = {};
    /// For the farthest forecast, the point that narrows it most for its node-hours.
    std::optional<NextPoint> next = {};
};

inline constexpr double kReach = 4;  ///< times the ranks of the largest point

/// Forecasts for each of `ranks` from one point or more with different numbers of ranks.
/// `node_holds`: the most ranks of one node; 0: not known. With `force` also beyond kReach.
CurveForecasts forecast_curve(std::vector<CurvePoint> points, Scaling scaling,
                              const std::vector<double>& ranks, double node_holds = 0,
                              bool force = false);

}  // namespace ranklab::forecast
