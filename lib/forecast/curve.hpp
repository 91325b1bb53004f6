// How the time of a step or job goes on with more ranks: curves through measured points, with an
// interval that includes the choice of the curve. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "forecast/refusal.hpp"
#include "stats/summary.hpp"

namespace ranklab::forecast {

/// Strong: all ranks share one work. Weak: each rank has its own.
enum class Scaling { strong, weak };

/// One number of ranks (or nodes, GPUs).
struct CurvePoint {
    double ranks = 0;
    std::vector<double> times_s = {};  ///< above 0; one for each process that measured it, in order
    int nodes = 0;                     ///< with its ranks; 0: not known
    /// Relative standard deviation of one time, where the source says it; NaN: from the times.
    double deviation = stats::kNone;

    double middle() const;  ///< the geometric mean of the times
};

/// The curves, with the time of q = ranks / ranks of the first point over that point's time. Each
/// is the ideal time (strong: 1/q, weak: 1) and what is added to it, with coefficients above 0:
///   saturating  s (1 - 1/q)                      strong: Amdahl's law; weak: Gustafson's, turned
///   logarithmic c log2 q                         trees of messages
///   usl         s (1 - 1/q) + d (q - 1)          Gunther's law of contention and coherence
///   power       the ideal time x q^k
///   a + log     s (1 - 1/q) + c log2 q
///   composite   s (1 - 1/q) + c log2 q + d (q - 1), which is a + b/p + c log p + d p
enum class Model { saturating, logarithmic, usl, power, saturating_log, composite };
inline constexpr std::size_t kModels = 6;
/// For people: "Amdahl" of strong, "Gustafson" of weak scaling.
std::string_view name_of(Model model, Scaling scaling);
/// Parameters, the time of the first point among them. A model is used where there are at least two
/// more points than that.
std::size_t parameters_of(Model model);

inline constexpr std::size_t kFewestPoints = 4;
inline constexpr double kReach = 4;  ///< times the ranks of the largest point

struct CurveForecast {
    double ranks = 0;
    double time_s = stats::kNone;
    stats::Interval interval = {};  ///< 95 %, of the mean of as many processes as the points have
    Refusal refusal = Refusal::none;
};

/// The largest point, forecast from the others.
struct HeldOut {
    double ranks = 0, measured_s = 0, forecast_s = 0;
    stats::Interval interval = {};  ///< 99 %
};

class Posterior;

struct Candidate {
    double ranks = 0;
    double narrowing = 0;  ///< the share by which measuring there would narrow the interval
};

/// A posterior over the models and their coefficients (forecast/posterior.hpp), and what speaks
/// against a forecast.
class CurveFit {
  public:
    /// Points in any order, with different ranks. `node_holds`: the most ranks of one node; 0: not
    /// known.
    CurveFit(std::vector<CurvePoint> points, Scaling scaling, double node_holds = 0);
    ~CurveFit();
    CurveFit(CurveFit&&) noexcept;

    /// Refused or not, the time is there wherever some model has enough points.
    CurveForecast forecast(double ranks) const;
    /// Why the points themselves forbid a forecast.
    Refusal refusal() const { return refusal_; }
    /// Which share of the posterior each model has; 0 where it has too few points.
    std::array<double, kModels> weights() const;
    /// No value where too few points are left without the largest one.
    const std::optional<HeldOut>& held_out() const { return held_out_; }
    /// The first ranks beyond the jump of Refusal::jump.
    double jump_at() const { return jump_at_; }
    Scaling scaling() const { return scaling_; }
    /// How three more processes at each of these numbers of ranks would narrow the forecast.
    std::vector<Candidate> candidates(std::span<const double> ranks, double target) const;

  private:
    bool leaves_the_node(double ranks) const;
    Refusal found_in_points();
    bool misses_largest();
    bool jumps();

    std::vector<CurvePoint> points_;
    Scaling scaling_;
    double node_holds_;
    std::unique_ptr<Posterior> posterior_;  ///< null below 2 points
    std::optional<HeldOut> held_out_;
    double jump_at_ = 0;
    Refusal refusal_ = Refusal::none;
};

}  // namespace ranklab::forecast
