// The curves that may go through measured points, each with its weight: part of curve.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "forecast/curve.hpp"
#include "stats/summary.hpp"

namespace ranklab::forecast {

double mean_of_logs(std::span<const double> times);
/// The squares of their distances from that mean, added up.
double squares_of_logs(std::span<const double> times);

/// A posterior over the models and their coefficients. Priors: coefficients log-uniform between
/// 3e-4 and 20 times the ideal time at the largest point (power: uniform exponent); models as
/// kTable in posterior.cpp; noise as repeated processes show it, and 2 % as if two more had shown
/// that. The time of the first point is integrated over; likelihoods are Student's, of logarithms.
class Posterior {
  public:
    /// At least 2 points, by ascending ranks. From `level_begins` ranks on the time may be longer
    /// by one more factor; 0: nowhere.
    Posterior(std::span<const CurvePoint> points, Scaling scaling, double level_begins);

    /// No model has enough points.
    bool empty() const { return curves_.empty(); }
    /// The median at so many ranks, and the interval of the mean of as many processes as the points
    /// have.
    double median(double ranks) const;
    stats::Interval interval(double ranks, double confidence) const;
    const std::array<double, kModels>& weights() const { return weights_; }
    /// Variance of one process' logarithm around the best curve, by the points' distances from it.
    double misfit() const { return misfit_; }
    /// The logarithm of the points' likelihood over all curves, up to a constant of the points.
    double evidence() const { return evidence_; }
    /// How the logarithms of the times at two numbers of ranks vary together over the curves.
    double covariance(double ranks_a, double ranks_b) const;
    /// The variance of the logarithm of one process' time.
    double noise() const { return noise_; }
    /// ... of the mean that interval() is of.
    double variance(double ranks) const {
        return covariance(ranks, ranks) + noise_ * (of_first_ + of_mean_);
    }

  private:
    struct Curve {
        Model model = Model::saturating;
        std::array<double, 4> coefficients = {};  ///< the level's factor less 1 is the last
        double weight = 0, log_first = 0;
        double noise = 0;  ///< variance of the logarithm of one process' time
    };
    struct Bin {
        double weight = 0, middle = 0, variance = 0;
    };
    friend class Grid;

    /// The terms of the models at some ranks, each 1 or the ideal time at the largest point.
    struct Basis {
        double log_q = 0, ideal = 0, constant = 0, logarithm = 0, linear = 0;
        bool beyond = false;  ///< the level
    };
    Basis basis_at(double ranks) const;
    /// The logarithm of the time over that of the first point.
    static double log_shape(const Curve& curve, const Basis& at);
    double log_time(const Curve& curve, const Basis& at) const {
        return curve.log_first + log_shape(curve, at);
    }
    /// From logarithms to shares, without curves that do not count.
    void normalise();
    std::vector<Bin> bins(double ranks) const;
    double quantile(std::span<const Bin> bins, double share) const;

    Scaling scaling_;
    double first_ = 1, largest_ = 1;
    double level_begins_ = 0;
    double freedom_ = 0, noise_ = 0;
    double of_first_ = 0, of_mean_ = 0;  ///< noise's share in the first time, in a forecast mean
    std::vector<Curve> curves_;
    std::array<double, kModels> weights_ = {};
    double misfit_ = stats::kNone, evidence_ = stats::kNone;
};

}  // namespace ranklab::forecast
