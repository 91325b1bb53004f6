// Private to lib/forecast: the Bayesian fit of scaling models to measured points, as a set of
// curves with weights.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "forecast/curve.hpp"

namespace ranklab::forecast {

double mean_of_logs(std::span<const double> times);
/// Sum of the squared deviations of the logarithms from their mean.
double squares_of_logs(std::span<const double> times);

struct Model;  ///< a kind of curve: Amdahl, power law ...

/// The posterior over the models and their coefficients. Priors: models as in kModels
/// (posterior.cpp); coefficients log-uniform from 3e-4 to 20 times the ideal time at the largest
/// point (power law: a uniform exponent; level: 1e-3 to 4); noise of 2 % with the weight of two
/// observations. The likelihood is Student's t of the logarithms; the time at the first point is
/// integrated out.
class Posterior {
  public:
    /// `points` ascend in ranks. From `level_begins` ranks on (0: nowhere) all curves have one more
    /// factor, the cost of a slower network level.
    Posterior(std::span<const CurvePoint> points, Scaling scaling, double level_begins);

    /// True if no model has enough points.
    bool empty() const { return curves_.empty(); }
    /// The median at `ranks`, with the interval of a mean over n launches (n: average per point).
    Estimate at(double ranks, double confidence) const;
    double median(double ranks) const { return quantile(bins(ranks), 0.5); }
    /// Fraction by which the interval at `target` narrows with `processes` more launches at
    /// `ranks`.
    double narrowing(double ranks, double processes, double target) const;
    std::map<std::string_view, double> weights() const;
    /// Variance of the logarithm of one launch's time, from the points' residuals about the best
    /// curve.
    double misfit() const { return misfit_; }
    /// Logarithm of the marginal likelihood, up to a constant of the data; NaN without a curve.
    double evidence() const { return evidence_; }

  private:
    /// The models' terms at one rank count, scaled to 1 (strong: the ideal time) at the largest
    /// point.
    struct Basis {
        double ideal = 0, constant = 0, logarithm = 0, linear = 0, log_q = 0;
        bool beyond = false;  ///< at or above level_begins
    };
    struct Curve {
        const Model* model = nullptr;
        /// Coefficients, 0 for terms that the model lacks; growth = e^k of the power law; the
        /// level's factor is 1 + level.
        double constant = 0, logarithm = 0, linear = 0, growth = 1, level = 0;
        double log_first = 0;          ///< logarithm of the time at the first point
        double weight = 0, noise = 0;  ///< noise: variance of the logarithm of one launch's time

        double log_at(const Basis& at) const;  ///< logarithm of the time
    };
    struct Point {
        Basis at;
        double log_time = 0, processes = 0;
    };
    /// A grid over the logarithm of one coefficient.
    struct Axis {
        double Curve::*coefficient;
        double low, high;           ///< range of the grid
        double whole = high - low;  ///< width of the prior
        int steps = 0;

        double step() const { return (high - low) / steps; }
    };
    struct Bin {
        double weight = 0, middle = 0, variance = 0;
    };

    Basis basis_at(double ranks) const;
    std::vector<Axis> axes_of(const Model& model) const;
    /// The curves of one model. Their weights are logarithms until normalise().
    std::vector<Curve> curves_of(const Model& model, std::vector<Axis> axes) const;
    /// One curve per cell of the grid that the axes span.
    std::vector<Curve> grid_of(const Model& model, const std::vector<Axis>& axes) const;
    void weigh(Curve& curve) const;
    /// Turns logarithmic weights into probabilities, and drops negligible curves.
    void normalise();
    /// Covariance over the curves of the logarithms of the times at two rank counts.
    double covariance(double ranks_a, double ranks_b) const;
    /// Histogram of the logarithm of the time, which makes quantiles cheap.
    std::vector<Bin> bins(double ranks) const;
    double quantile(const std::vector<Bin>& bins, double share) const;

    static constexpr double kPriorDeviation = 0.02, kPriorFreedom = 2;
    static constexpr double kStatedFreedom = 5;  ///< observations that a stated deviation counts as

    Scaling scaling_;
    double first_, largest_, level_begins_;
    std::vector<Point> points_;
    double processes_ = 0, freedom_ = kPriorFreedom - 1,
           noise_sum_ = kPriorFreedom * kPriorDeviation * kPriorDeviation;
    double noise_ = 0;  ///< variance of the logarithm of one launch's time
    double share_ = 0;  ///< variance of the mean that at() forecasts, as a fraction of noise_
    std::vector<Curve> curves_;
    double misfit_ = stats::kNone, evidence_ = stats::kNone;
};

}  // namespace ranklab::forecast
