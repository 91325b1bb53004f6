// The curves that may go through measured points, each with its weight.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "forecast/curve.hpp"
#include "stats/interval.hpp"

namespace ranklab::forecast {

struct Model;  ///< a kind of curve

double mean_of_logs(std::span<const double> times);
/// The squares of their distances from that mean, added up.
double squares_of_logs(std::span<const double> times);

/// A posterior over the models and their coefficients. Priors: coefficients log-uniform between
/// 3e-4 and 20 times the ideal time at the largest point (power: uniform exponent); models as
/// kModels (posterior.cpp); noise as repeated processes show it, and 2 % as if two more had shown
/// that. The time of the first point is integrated over; likelihoods are Student's, of logarithms.
class Posterior {
  public:
    /// By ascending ranks. From `level_begins` ranks on the time may be longer by one more factor;
    /// 0: nowhere.
    Posterior(std::span<const CurvePoint> points, Scaling scaling, double level_begins);

    /// No model has enough points.
    bool empty() const { return curves_.empty(); }
    /// The median at so many ranks, and the interval of the mean of as many processes as the points
    /// have.
    Estimate at(double ranks, double confidence) const;
    double median(double ranks) const { return quantile(bins(ranks), 0.5); }
    /// The share by which so many processes more at `ranks` would narrow the interval at `target`.
    double narrowing(double ranks, double processes, double target) const;
    std::map<std::string_view, double> weights() const;
    /// Variance of one process' logarithm around the best curve, by the points' distances from it.
    double misfit() const { return misfit_; }
    /// The logarithm of the points' likelihood over all curves, up to a constant of the points.
    /// NaN without a curve.
    double evidence() const { return evidence_; }

  private:
    /// The terms of the models at some ranks, each 1 or the ideal time at the largest point.
    struct Basis {
        double ideal = 0, constant = 0, logarithm = 0, linear = 0, log_q = 0;
        bool beyond = false;  ///< the level
    };
    struct Curve {
        const Model* model = nullptr;
        /// A term that the model lacks has 0; growth is e^k, and 1 + level the level's factor.
        double constant = 0, logarithm = 0, linear = 0, growth = 1, level = 0;
        double log_first = 0, weight = 0;
        double noise = 0;  ///< variance of the logarithm of one process' time

        /// The logarithm of the time.
        double log_at(const Basis& at) const;
    };
    struct Point {
        Basis at;
        double log_time = 0, processes = 0;
    };
    /// A coefficient, in steps of its logarithm.
    struct Axis {
        double Curve::*coefficient;
        double low, high;           ///< of the grid
        double whole = high - low;  ///< of the prior
        int steps = 0;

        double step() const { return (high - low) / steps; }
    };
    struct Bin {
        double weight = 0, middle = 0, variance = 0;
    };

    Basis basis_at(double ranks) const;
    std::vector<Axis> axes_of(const Model& model) const;
    /// A model's curves; their weights are logarithms.
    std::vector<Curve> curves_of(const Model& model, std::vector<Axis> axes) const;
    /// A curve a cell of the grid that the axes span.
    std::vector<Curve> grid_of(const Model& model, const std::vector<Axis>& axes) const;
    void weigh(Curve& curve) const;
    /// From logarithms to shares, without curves that do not count.
    void normalise();
    /// How the logarithms of two times vary together over the curves.
    double covariance(double ranks_a, double ranks_b) const;
    /// Curves of nearly the same time become one.
    std::vector<Bin> bins(double ranks) const;
    double quantile(const std::vector<Bin>& bins, double share) const;

    static constexpr double kPriorDeviation = 0.02, kPriorFreedom = 2;
    static constexpr double kStatedFreedom = 5;  ///< the weight of a stated deviation

    Scaling scaling_;
    double first_, largest_, level_begins_;
    std::vector<Point> points_;
    double processes_ = 0, freedom_ = kPriorFreedom - 1,
           noise_sum_ = kPriorFreedom * kPriorDeviation * kPriorDeviation;
    double noise_ = 0;  ///< variance of the logarithm of one process' time
    double share_ = 0;  ///< of noise_ in the mean that at() is of
    std::vector<Curve> curves_;
    double misfit_ = stats::kNone, evidence_ = stats::kNone;
};

}  // namespace ranklab::forecast
