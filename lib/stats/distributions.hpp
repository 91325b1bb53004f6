// Distribution functions and quantiles, by Boost.Math. Undefined results are NaN or infinite.
#pragma once

#include <cstddef>

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

}  // namespace ranklab::stats
