#include "stats/distributions.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "base/numbers.hpp"

namespace ranklab::stats {
namespace {

namespace bm = boost::math;

// What has no answer is NaN or infinite, as everywhere in this room; nothing is computed in long double.
using Policy = bm::policies::policy<bm::policies::domain_error<bm::policies::ignore_error>,
                                    bm::policies::overflow_error<bm::policies::ignore_error>,
                                    bm::policies::promote_double<false>>;
using Normal = bm::normal_distribution<double, Policy>;
using StudentsT = bm::students_t_distribution<double, Policy>;
using ChiSquared = bm::chi_squared_distribution<double, Policy>;
using Binomial = bm::binomial_distribution<double, Policy>;

}  // namespace

double normal_cdf(double z) {
    return bm::cdf(Normal(), z);
}

double normal_quantile(double p) {
    return bm::quantile(Normal(), p);
}

double student_quantile(double p, double degrees) {
    return bm::quantile(StudentsT(degrees), p);
}

double chi_square_quantile(double p, double degrees) {
    return bm::quantile(ChiSquared(degrees), p);
}

double binomial_probability(std::size_t n, double q, std::size_t k) {
    return bm::pdf(Binomial(base::real(n), q), base::real(k));
}

BinomialRank binomial_rank(std::size_t n, double q, double tail) {
    if (n == 0 || q <= 0 || q >= 1) return {};
    const Binomial distribution(base::real(n), q);
    // P(Bin < k) is cdf(k - 1); Boost's quantile is near it, and the sums next to it decide.
    const auto below = [&](std::size_t k) { return k == 0 ? 0 : bm::cdf(distribution, base::real(k - 1)); };
    auto k = static_cast<std::size_t>(std::max(0.0, std::floor(bm::quantile(distribution, tail))));
    while (k > 0 && below(k) > tail) --k;
    while (k < n && below(k + 1) <= tail) ++k;
    return {k, below(k)};
}

}  // namespace ranklab::stats
