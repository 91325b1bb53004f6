// Distribution functions and quantiles, by Boost.Math (undefined results are NaN or infinite);
// jointly normal values of which some are known, and mixtures.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ranklab::stats {

double normal_cdf(double z);
/// The inverse of normal_cdf: infinite at 0 and 1, NaN outside.
double normal_quantile(double p);
/// The next three functions need `degrees` (of freedom) above 0.
double student_cdf(double t, double degrees);
double student_quantile(double p, double degrees);
double chi_square_quantile(double p, double degrees);

/// P(Bin(n, q) = k)
double binomial_probability(std::size_t n, double q, std::size_t k);

/// The largest k with P(Bin(n, q) < k) <= tail, and that probability.
struct BinomialRank {
    std::size_t k = 0;
    double below = 0;
};
BinomialRank binomial_rank(std::size_t n, double q, double tail);

/// Known values with a joint normal distribution of mean 0.
class GaussianValues {
  public:
    /// `covariance`: n x n, row by row, symmetric and positive definite.
    GaussianValues(std::vector<double> covariance, std::size_t n);
    /// The logarithm of the probability density is log_norm - chi_square / 2, up to a constant for
    /// each n.
    double log_norm() const { return log_norm_; }
    /// The sum of squares of the values, transformed to independent standard normal ones.
    double chi_square(std::span<const double> values) const;
    /// The best prediction of another value is the sum of weight x known value. `covariances`: the
    /// other value's with each known one.
    std::vector<double> weights(std::span<const double> covariances) const;

  private:
    std::vector<double> inverse_;
    std::size_t n_;
    double log_norm_ = 0;
};

/// Part of a mixture of normal distributions. The weights add up to 1.
struct NormalPart {
    double weight = 0, mean = 0, deviation = 0;
};
/// NaN without parts.
double mixture_quantile(std::span<const NormalPart> parts, double p);

}  // namespace ranklab::stats
