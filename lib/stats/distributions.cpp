#include "stats/distributions.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "base/numbers.hpp"

namespace ranklab::stats {
namespace {

namespace bm = boost::math;

using Policy =
    bm::policies::policy<bm::policies::domain_error<bm::policies::ignore_error>,
                         bm::policies::overflow_error<bm::policies::ignore_error>,
                         bm::policies::discrete_quantile<bm::policies::integer_round_down>,
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

double student_cdf(double t, double degrees) {
    return bm::cdf(StudentsT(degrees), t);
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
    if (bm::cdf(distribution, 0) > tail) return {};
    const double last = bm::quantile(distribution, tail);  // rounded down
    return {static_cast<std::size_t>(last) + 1, bm::cdf(distribution, last)};
}

}  // namespace ranklab::stats
