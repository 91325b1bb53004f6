#include "stats/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace ranklab::stats {
namespace {

double rational_tail(double p) {
    const double t = std::sqrt(-2 * std::log(p));
    return (((((-7.784894002430293e-03 * t - 3.223964580411365e-01) * t - 2.400758277161838e+00) * t -
              2.549732539343734e+00) *
                 t +
             4.374664141464968e+00) *
                t +
            2.938163982698783e+00) /
           ((((7.784695709041462e-03 * t + 3.224671290700398e-01) * t + 2.445134137142996e+00) * t +
             3.754408661907416e+00) *
                t +
            1);
}

double rational_middle(double p) {
    const double u = p - 0.5;
    const double r = u * u;
    return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
              1.383577518672690e+02) *
                 r -
             3.066479806614716e+01) *
                r +
            2.506628277459239e+00) *
           u /
           (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
              6.680131188771972e+01) *
                 r -
             1.328068155288572e+01) *
                r +
            1);
}

// log P(Bin(n, q) = k)
double log_binomial(double n, double q, double k) {
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(q) +
           (n - k) * std::log1p(-q);
}

}  // namespace

double normal_cdf(double z) {
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double normal_quantile(double p) {
    if (!(p > 0)) return p == 0 ? -std::numeric_limits<double>::infinity() : std::nan("");
    if (p > 0.5) return p < 1 ? -normal_quantile(1 - p) : std::numeric_limits<double>::infinity();
    const double z = p < 0.02425 ? rational_tail(p) : rational_middle(p);
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    return z - (normal_cdf(z) - p) / density;
}

double student_quantile(double p, double degrees) {
    const double z = normal_quantile(p);
    const double n = degrees;
    const double z2 = z * z;
    // Hill's expansion in 1/n, to the fourth term (Abramowitz & Stegun 26.7.5).
    const double g1 = (z2 + 1) * z / 4;
    const double g2 = ((5 * z2 + 16) * z2 + 3) * z / 96;
    const double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384;
    const double g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160;
    return z + (((g4 / n + g3) / n + g2) / n + g1) / n;
}

double chi_square_quantile(double p, double degrees) {
    const double part = 2 / (9 * degrees);
    const double root = std::max(0.0, 1 - part + normal_quantile(p) * std::sqrt(part));
    return degrees * root * root * root;
}

BinomialRank binomial_rank(std::size_t n, double q, double tail) {
    if (n == 0 || q <= 0 || q >= 1) return {};
    // The sum starts twenty standard deviations below the mean: what lies under that is less than 1e-80.
    const double size = static_cast<double>(n);
    double k = std::max(0.0, std::floor(size * q - 20 * std::sqrt(size * q * (1 - q))));
    double probability = std::exp(log_binomial(size, q, k));
    double below = 0;
    while (k < size && below + probability <= tail) {
        below += probability;
        probability *= (size - k) / (k + 1) * (q / (1 - q));
        ++k;
    }
    return {static_cast<std::size_t>(k), below};
}

}  // namespace ranklab::stats
