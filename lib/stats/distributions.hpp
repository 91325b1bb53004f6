// The few distributions that the intervals need.
#pragma once

#include <cstddef>

namespace ranklab::stats {

double normal_cdf(double z);
/// The inverse of normal_cdf, 0 < p < 1: Acklam's rational approximation with one Newton step, good to 1e-12.
double normal_quantile(double p);
/// Quantiles by degrees of freedom: Student's t by Hill (1970, CACM algorithm 396), chi-square by Wilson &
/// Hilferty (1931): good to a per cent from 3 degrees on.
double student_quantile(double p, double degrees);
double chi_square_quantile(double p, double degrees);

/// The largest k such that P(Bin(n, q) < k) <= tail; 0 where there is none but 0.
/// `below` is that probability.
struct BinomialRank {
    std::size_t k = 0;
    double below = 0;
};
BinomialRank binomial_rank(std::size_t n, double q, double tail);

}  // namespace ranklab::stats
