// The curves that may go through measured points, each with its weight. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

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

double mean_of_logs(std::span<const double> times);
/// The squares of their distances from that mean, added up.
double squares_of_logs(std::span<const double> times);

/// A kind of curve. With q = ranks / ranks of the first point, the time over that point's time is
/// the ideal (strong: 1/q, weak: 1) and its terms, with coefficients above 0.
struct Model {
    std::string_view strong, weak;                             ///< its names
    bool constant = false, logarithm = false, linear = false;  ///< 1 - 1/q, log q, q - 1
    bool power = false;                                        ///< the ideal time x q^k
    double strong_prior = 1, weak_prior = 1;  ///< how plausible before anything is measured

    /// The time of the first point among them. A model is used where there are at least two more
    /// points than that.
    std::size_t parameters() const {
        return std::size_t{1} + constant + logarithm + linear + power;
    }
    std::string_view name(Scaling scaling) const {
        return scaling == Scaling::strong ? strong : weak;
    }
};
/// Overheads that grow with the number of ranks itself are rare in weak scaling: of the published
/// curves none is best described by them.
inline constexpr std::array kModels{
    Model{"Amdahl", "Gustafson", true},
    Model{"logarithmic", "logarithmic", false, true},
    Model{"USL", "USL", true, false, true, false, 1.3, 0.03},
    Model{"power law", "power law", false, false, false, true},
    Model{"constant + log p", "constant + log p", true, true, false, false, 0.5, 1},
    Model{"a + b/p + c log p + d p", "a + c log p + d p", true, true, true, false, 0.2, 0.03}};

struct Estimate {
    double time_s = stats::kNone;
    stats::Interval interval = {};
};

/// A posterior over the models and their coefficients. Priors: coefficients log-uniform between
/// 3e-4 and 20 times the ideal time at the largest point (power: uniform exponent); models as
/// kModels; noise as repeated processes show it, and 2 % as if two more had shown that. The time of
/// the first point is integrated over; likelihoods are Student's, of logarithms.
class Posterior {
  public:
    /// At least 2 points, by ascending ranks. From `level_begins` ranks on the time may be longer
    /// by one more factor; 0: nowhere.
    Posterior(std::span<const CurvePoint> points, Scaling scaling, double level_begins);

    /// No model has enough points.
    bool empty() const { return curves_.empty(); }
    /// The median at so many ranks, and the interval of the mean of as many processes as the points
    /// have.
    Estimate at(double ranks, double confidence) const;
    /// The models' shares.
    const std::array<double, kModels.size()>& weights() const { return weights_; }
    /// Variance of one process' logarithm around the best curve, by the points' distances from it.
    double misfit() const { return misfit_; }
    /// The logarithm of the points' likelihood over all curves, up to a constant of the points.
    double evidence() const { return evidence_; }
    /// The share by which so many processes more at `ranks` would narrow the interval at `target`.
    double narrowing(double ranks, double processes, double target) const;

  private:
    /// The terms of the models at some ranks, each 1 or the ideal time at the largest point.
    struct Basis {
        double ideal = 0, constant = 0, logarithm = 0, linear = 0, log_q = 0;
        bool beyond = false;  ///< the level
    };
    struct Point {
        Basis at;
        double log_time = 0, processes = 0;
    };
    struct Curve {
        const Model* model = nullptr;
        /// Of the terms (0: it has not this one), e^k, and 1 + the last is the level's factor.
        double constant = 0, logarithm = 0, linear = 0, growth = 1, level = 0;
        double log_first = 0, weight = 0;
        double noise = 0;  ///< variance of the logarithm of one process' time
    };
    struct Axis;
    struct Bin {
        double weight = 0, middle = 0, variance = 0;
    };

    Basis basis_at(double ranks) const;
    /// The logarithm of the time over that of the first point.
    static double log_shape(const Curve& curve, const Basis& at);
    static double log_time(const Curve& curve, const Basis& at) {
        return curve.log_first + log_shape(curve, at);
    }
    std::vector<Axis> axes_of(const Model& model) const;
    /// A model's curves; their weights are logarithms.
    std::vector<Curve> curves_of(const Model& model) const;
    std::vector<Curve> look(const Model& model, const std::vector<Axis>& axes) const;
    void weigh(Curve& curve) const;
    /// From logarithms to shares, without curves that do not count.
    void normalise();
    std::vector<Bin> bins(double ranks) const;
    double quantile(const std::vector<Bin>& bins, double share) const;

    Scaling scaling_;
    double first_, largest_, level_begins_;
    std::vector<Point> points_;
    double processes_ = 0, freedom_, noise_sum_;
    std::vector<Curve> curves_;
    std::array<double, kModels.size()> weights_ = {};
    double misfit_ = stats::kNone, evidence_ = stats::kNone;
    double noise_ = 0;  ///< variance of the logarithm of one process' time
    double share_ = 0;  ///< of noise_ in the mean that at() is of
};

}  // namespace ranklab::forecast
