// Forecasts the time of a step or job with more ranks by curves through measured points. The
// interval includes the uncertainty about the kind of curve.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::forecast {

/// Strong: all ranks share a fixed amount of work. Weak: each rank has a fixed amount of its own.
enum class Scaling { strong, weak };
inline const char* name_of(Scaling scaling) {
    return scaling == Scaling::strong ? "strong" : "weak";
}

/// The times of a step or job at one count of ranks (or nodes, or GPUs). A launch is one start of
/// the program.
struct CurvePoint {
    double ranks = 0;
    std::vector<double> times_s = {};  ///< above 0; one per launch, in the order measured
    int nodes = 0;                     ///< number of nodes that the ranks ran on; 0: not known
    /// Relative standard deviation of one time, if the source states it; NaN: taken from times_s.
    double deviation = stats::kNone;

    double middle() const;  ///< geometric mean of the times
};

struct Estimate {
    double time_s = stats::kNone;
    stats::Interval interval = {};
};

/// Why there is no forecast.
enum class Refusal {
    none,
    // of forecasts by curve
    too_few_points,
    repeats_contradict,  ///< times at one rank count scatter too much
    warm_up_inside,      ///< the first run at each rank count is slower than the rest
    misfit,              ///< no curve fits the points
    jump,                ///< the time jumps between two points
    held_out_missed,     ///< the largest point lies outside the forecast from the other points
    one_node,            ///< the forecast spans several nodes, but fewer than two points do
    beyond_reach,        ///< more than kReach times the largest point
    // of forecasts by mechanism
    no_layers,           ///< no run of one rank has the table `layers`
    batch_not_measured,  ///< no run of one rank has this batch
    few_samples,         ///< fewer measured steps than ranks, so that the slowest rank is unknown
    level_not_crossed,   ///< no allreduce of this size was measured with this placement of ranks
    too_far,             ///< more than 64 times the ranks of the largest run
    misses_its_runs      ///< the simulation of the nearest run is off by a factor of 2
};

struct CurveForecast {
    double ranks = 0;
    Refusal refusal = Refusal::none;
    /// The time, with the 95 % interval of a mean over n launches (n: average per point).
    Estimate estimate = {};
    std::vector<double> ranks_to_measure = {};  ///< rank counts to measure, to end a refusal
};

/// A further measurement at `ranks`, which would narrow the interval at `target` ranks.
struct NextPoint {
    double ranks = 0, target = 0;
    double narrowing = 0;  ///< fraction by which the interval narrows
};

struct CurveForecasts {
    std::vector<CurveForecast> all = {};
    std::map<std::string_view, double> weights = {};  ///< posterior probability of each model
    /// The measurement that narrows the farthest forecast's interval most per node-hour.
    std::optional<NextPoint> next = {};
};

/// Without `force` a forecast has at most this many times the ranks of the largest point.
inline constexpr double kReach = 4;

/// Returns a forecast for each of `ranks`. The points (at least one) have different rank counts.
/// `node_holds`: ranks that one node can hold; 0: not known.
CurveForecasts forecast_curve(std::vector<CurvePoint> points, Scaling scaling,
                              const std::vector<double>& ranks, double node_holds = 0,
                              bool force = false);

}  // namespace ranklab::forecast
