// Forecasts the time of a step or job with more ranks from curves fitted to measured points, with
// priors learned from published curves. The interval allows for different kinds of curve, for a
// true curve that no model has, and for the cost of the step from one node to several.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/interval.hpp"
#include "stats/repeats.hpp"

namespace ranklab::forecast {

/// Why there is no forecast: the codes of `ranklab predict`.
enum class Refusal {
    none,
    // of forecasts by curve
    too_few_points,
    repeats_contradict,  ///< times at one rank count scatter too much
    warm_up_inside,      ///< the first run at each rank count is slower than the rest
    misfit,              ///< no curve fits the points
    held_out_missed,     ///< the largest point lies outside the forecast from the other points
    beyond_reach,        ///< more than kReach times the largest point, or below the smallest
    // of forecasts by mechanism
    no_layers,           ///< no run of one rank has the table `layers`
    batch_not_measured,  ///< no run of one rank has this batch
    few_samples,         ///< fewer measured steps than ranks, so that the slowest rank is unknown
    level_not_crossed,   ///< no allreduce of this size was measured with this placement of ranks
    too_far,             ///< more than 64 times the ranks of the largest run
    misses_its_runs      ///< the simulation of the nearest run is off by a factor of 2
};

/// Strong: all ranks share a fixed amount of work. Weak: each rank has a fixed amount of its own.
enum class Scaling { strong, weak };
inline const char* name_of(Scaling scaling) {
    return scaling == Scaling::strong ? "strong" : "weak";
}

enum class Work { unknown, training, code, storage };
inline constexpr std::array<std::string_view, 4> kWorks{"unknown", "training", "code", "storage"};

/// The times of a step or job at one count of ranks (or nodes, or GPUs). A launch is one start of
/// the program.
struct CurvePoint {
    double ranks = 0;
    std::vector<double> times_s = {};  ///< above 0; one per launch, in the order measured
    double nodes = 0;                  ///< number of nodes that the ranks ran on; 0: not known
    /// Relative standard deviation of one time, if the source states it; NaN: taken from times_s.
    double deviation = stats::kNone;

    double middle() const { return std::exp(stats::log_mean(times_s)); }  ///< geometric mean
};

/// The two parameters with learned priors, and the grids of values that a fit weighs. Discrepancy:
/// by how much the logarithm of the true time strays from the curve per doubling of the ranks.
/// Crossing: the logarithm of the factor by which two nodes take longer.
inline constexpr std::size_t kDiscrepancy = 0, kCrossing = 1;
inline const std::array<std::vector<double>, 2> kValues{
    {{0.004, 0.01, 0.02, 0.04, 0.08, 0.16}, {0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8}}};

/// Probabilities of kValues.
struct Prior {
    std::array<std::vector<double>, kValues.size()> of;
    std::size_t sources = 0;  ///< number of sources of the same kind whose curves have a crossing

    /// The factor by which two nodes take longer: the median, with the 95 % interval.
    stats::RatioEstimate crossing_factor() const;
};

struct ScalingCurve {
    Scaling scaling = Scaling::strong;
    Work work = Work::unknown;
    std::vector<CurvePoint> points = {};  ///< ascending in ranks
    double per_node = 0;      ///< ranks that one node holds; 0: as the points say, or not known
    std::string source = {};  ///< publication and framework; all curves of one source are related
};

/// Learns priors from published curves: a value's mean posterior probability over the sources.
class Sources {
  public:
    explicit Sources(const std::vector<ScalingCurve>& curves);
    /// The prior for curves of this kind, without the curves of one source. Curves of other kinds
    /// count half; if `work` is unknown, all curves of this scaling are of the same kind.
    Prior prior(Scaling scaling, Work work, std::string_view without = {}) const;

  private:
    struct Learned {
        Scaling scaling;
        Work work;
        Prior posterior;  // without probabilities of a crossing if the curve has none
    };
    std::map<std::string, std::vector<Learned>, std::less<>> by_source_;
};

struct Estimate {
    double time_s = stats::kNone;
    stats::Interval interval = {};
};

/// What makes an interval wide: runs of one point scatter; several curves fit the points; the true
/// curve may stray from all of them; the extra time on two and more nodes is uncertain.
enum class Doubt : std::size_t { noise, curve, discrepancy, crossing };
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

/// Without `force` a forecast has at most this many times the ranks of the largest point.
inline constexpr double kReach = 4;

/// Returns a forecast for each of `ranks`. The points (at least one) have different rank counts.
std::vector<CurveForecast> forecast_curve(ScalingCurve curve, const Prior& prior,
                                          const std::vector<double>& ranks, bool force = false);

struct NextPoint {
    double ranks = 0;
    stats::Interval after = {};
};
/// The measurement that narrows a forecast's interval most per rank-hour, and the interval expected
/// after it; nullopt if none narrows it enough.
std::optional<NextPoint> next_point(ScalingCurve curve, const Prior& prior,
                                    const CurveForecast& forecast);

}  // namespace ranklab::forecast
