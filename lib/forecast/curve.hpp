// How the time of a step or job goes on with more ranks: curves through measured points, with an
// interval that includes the choice of the curve. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "forecast/posterior.hpp"
#include "forecast/refusal.hpp"

namespace ranklab::forecast {

inline constexpr std::size_t kFewestPoints = 4;
inline constexpr double kReach = 4;  ///< times the ranks of the largest point

struct CurveForecast {
    double ranks = 0;
    Estimate estimate = {};  ///< 95 %, of the mean of as many processes as the points have
    Refusal refusal = Refusal::none;
};

/// A further measurement, and by which share it would narrow the interval of a forecast.
struct NextPoint {
    double ranks = 0, narrowing = 0;
};

/// The posterior of measured points, and what speaks against a forecast.
class CurveFit {
  public:
    /// Points in any order, with different ranks. `node_holds`: the most ranks of one node; 0: not
    /// known.
    CurveFit(std::vector<CurvePoint> points, Scaling scaling, double node_holds = 0);

    /// Refused or not, the time is there wherever some model has enough points.
    CurveForecast forecast(double ranks) const;
    /// Why the points themselves forbid a forecast.
    Refusal refusal() const { return refusal_; }
    /// The numbers of ranks to measure so that this forecast is not refused again.
    std::vector<double> mended_by(const CurveForecast& refused) const;
    /// The point that narrows the forecast at `target` most for its node-hours, of three processes
    /// as ranklab sweep makes them; nullopt where none narrows it by a tenth.
    std::optional<NextPoint> next(double target) const;

    /// No value where no model has enough points.
    const std::optional<Posterior>& posterior() const { return posterior_; }
    /// The largest point, forecast from the others with a 99 % interval; no value where these are
    /// too few.
    const std::optional<Estimate>& held_out() const { return held_out_; }

  private:
    bool leaves_the_node(double ranks) const;
    Refusal found_in_points();
    bool misses_largest();
    bool jumps();

    std::vector<CurvePoint> points_;
    Scaling scaling_;
    double node_holds_;
    std::optional<Posterior> posterior_;
    std::optional<Estimate> held_out_;
    double jump_at_ = 0;  ///< the first ranks beyond it
    Refusal refusal_ = Refusal::none;
};

}  // namespace ranklab::forecast
