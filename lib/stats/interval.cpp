#include "stats/interval.hpp"

#include <fmt/format.h>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/numbers.hpp"

namespace ranklab::stats {
namespace {

constexpr std::size_t kReference = 1024;  // samples that give the ranks of a longer series
constexpr std::size_t kMostLags = 60;
// So many small autocorrelations in a row end the correlation.
constexpr std::size_t kQuietLags = 5;
constexpr double kFewestEffective = 10;  // samples of a correlated series, for an interval

// Normal scores of mid-ranks: their autocorrelations do not change with the shape of the
// distribution, and one far-out sample cannot hide the correlation of the others.
std::vector<double> normal_scores(std::span<const double> x) {
    const std::size_t step = (x.size() + kReference - 1) / kReference;
    std::vector<double> reference;
    for (std::size_t i = 0; i < x.size(); i += step) reference.push_back(x[i]);
    std::sort(reference.begin(), reference.end());
    const std::size_t m = reference.size();
    std::vector<double> score(2 * m + 1);
    for (std::size_t i = 0; i <= 2 * m; ++i)
        score[i] = normal_quantile((base::real(i) + 1) / (2.0 * base::real(m) + 2));
    std::vector<double> z(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto equal = std::ranges::equal_range(reference, x[i]);
        z[i] = score[(equal.begin() - reference.begin()) + (equal.end() - reference.begin())];
    }
    return z;
}

double below(double x, double median) {
    return x < median ? 1 : x == median ? 0.5 : 0;
}

// Autocorrelations, computed as they are asked for.
class Autocorrelation {
  public:
    explicit Autocorrelation(std::vector<double> z) : z_(std::move(z)) {
        const double mean = std::accumulate(z_.begin(), z_.end(), 0.0) / base::real(z_.size());
        for (double& value : z_) value -= mean;
        variance_ = products(0);
    }
    double at(std::size_t lag) {
        for (std::size_t next = known_.size(); next <= lag; ++next)
            known_.push_back(variance_ > 0 ? products(next) / variance_ : 0);
        return known_[lag];
    }

  private:
    double products(std::size_t lag) const {
        return std::transform_reduce(z_.begin() + lag, z_.end(), z_.begin(), 0.0);
    }

    std::vector<double> z_;
    double variance_ = 0;
    std::vector<double> known_;
};

// Independent samples have r(k) of 0 +- 1/sqrt(n), a little below 0. The first lag has one chance
// in fifty to look positive by accident, the others together one in a hundred.
bool visible(Autocorrelation& r, std::size_t lags, double n) {
    const double noise = 1 / std::sqrt(n);
    for (std::size_t lag = 1; lag <= std::min(lags, kQuietLags); ++lag)
        if (r.at(lag) + 1 / n > (lag == 1 ? 2.05 : 3) * noise) return true;
    return false;
}

// Politis's adaptive bandwidth (Adaptive bandwidth choice, J. Nonparametric Statistics 15, 2003):
// the lag after which kQuietLags autocorrelations in a row do not differ from 0. It takes twice
// that, and a little more, since an autocorrelation just too small to be seen is not 0.
std::size_t bandwidth(Autocorrelation& r, std::size_t lags, double n) {
    const double noise = 2 * std::sqrt(std::log10(n) / n);
    std::size_t last = 0;
    for (std::size_t lag = 1; lag <= std::min(lags, last + kQuietLags); ++lag)
        if (std::abs(r.at(lag)) >= noise) last = lag;
    return std::min(2 * (last + 1), lags);
}

struct Correlation {
    double lag1 = 0;  // of the normal scores of the samples' ranks
    // The long-run variance of "above the median" over that of independent samples.
    double inflation = 1;
    double block_length = 1;  // for a circular block bootstrap of the median
};

// Requires n >= 3 samples, not all equal.
Correlation correlation(std::span<const double> samples, double median) {
    const double n = base::real(samples.size());
    const std::size_t lags = std::min(kMostLags, std::max<std::size_t>(1, samples.size() / 4));
    Autocorrelation r(normal_scores(samples));
    Correlation found{.lag1 = r.at(1)};
    if (!visible(r, lags, n)) return found;
    const std::size_t most = bandwidth(r, lags, n);
    std::vector<double> sides;
    for (const double x : samples) sides.push_back(below(x, median));
    Autocorrelation s(std::move(sides));
    double sum = 0;
    double moment = 0;
    for (std::size_t lag = 1; lag <= most; ++lag) {
        // The flat-top window: no bias from the lags that matter.
        const double t = base::real(lag) / base::real(most);
        const double weight = t <= 0.5 ? 1 : 2 * (1 - t);
        sum += weight * s.at(lag);
        moment += weight * s.at(lag) * base::real(lag);
    }
    // In a short series the estimates at later lags fall below 0 by bias: the first one stays.
    found.inflation = std::clamp(1 + 2 * std::max(sum, s.at(1)), 1.0, n);
    // Politis & White 2004, as corrected by Patton, Politis & White 2009 (Econometric Reviews 28):
    // the length of least mean squared error, and half as much again, since the bias part of that
    // error lowers coverage.
    const double ratio = 2 * std::max({moment, s.at(1), 0.0}) / found.inflation;
    found.block_length = std::max(1.0, 1.5 * std::cbrt(1.5 * ratio * ratio * n));
    return found;
}

// Whether so few independent samples remain that there is no interval.
bool too_few(double effective, double n) {
    return effective < std::min(kFewestEffective, n / 2);
}

// A short series shows only strong correlation, and too little of it: the lag-1 value is corrected
// for its bias (Marriott and Pope, Biometrika 41, 1954), and the effective sample size is that of
// an autoregressive series with it. Below kShort it is not known.
double effective_of_short(double lag1, double n) {
    constexpr double kShort = 20, kLong = 50;
    if (n < kShort || n >= kLong) return n;
    const double phi = std::clamp((lag1 + 1 / n) / (1 - 4 / n), 0.0, 1.0);
    return n * (1 - phi) / (1 + phi);
}

// The variance, over all n circular blocks of b samples, of the number of a block's samples below
// the median.
double block_variance(std::span<const double> samples, double median, std::size_t b) {
    const std::size_t n = samples.size();
    double mean = 0;
    for (const double x : samples) mean += below(x, median);
    mean *= base::real(b) / base::real(n);
    double inside = 0;
    for (std::size_t i = 0; i < b; ++i) inside += below(samples[i], median);
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
        squares += (inside - mean) * (inside - mean);
        const std::size_t next = i + b < n ? i + b : i + b - n;
        inside += below(samples[next], median) - below(samples[i], median);
    }
    return squares / base::real(n);
}

// `median` is that of `samples`; no NaN, n >= 1.
Dependence dependence_about(std::span<const double> samples, double median) {
    const double n = base::real(samples.size());
    Dependence result;
    result.effective_n = n;
    const auto differs = [&](double x) { return x != samples.front(); };
    if (samples.size() < 3 || std::ranges::none_of(samples, differs)) return result;
    const Correlation found = correlation(samples, median);
    result.lag1 = found.lag1;
    // Where the correlations sum to nothing or less, the samples count as independent.
    if (found.inflation > 1.05) result.effective_n = std::max(1.0, n / found.inflation);
    if (const double few = effective_of_short(found.lag1, n); few < kFewestEffective)
        result.effective_n = std::max(1.0, std::min(result.effective_n, few));
    if (result.effective_n < n) result.block_length = found.block_length;
    if (too_few(result.effective_n, n))
        result.warning = fmt::format("effective sample size {:.0f} of {:.0f}: measure longer",
                                     result.effective_n, n);
    return result;
}

// The circular block bootstrap of a median (Kuensch 1989; Politis & Romano 1992) of a series that
// is correlated over about `block_length` samples; n >= 6. A resample is n/b blocks drawn with
// replacement. How many of its samples lie below the series' median is a sum of n/b independent
// counts: nearly normal, its variance known from all blocks. So the limits of 1,000,000 resamples
// follow without any; such a difference in the count below the median is the same number of ranks
// (Woodruff, JASA 47, 1952).
IntervalRanks block_bootstrap_ranks(std::span<const double> samples, double median,
                                    double block_length) {
    const double n = base::real(samples.size());
    const auto b =
        static_cast<std::size_t>(std::clamp(std::ceil(block_length), 1.0, std::floor(n / 4 + 1)));
    const double blocks = n / base::real(b);
    // Few blocks vary too little among themselves: this takes the expanded percentiles of
    // Hesterberg, What teachers should know about the bootstrap, The American Statistician 69,
    // 2015.
    const double t = student_quantile((1 + kConfidence) / 2, std::max(3.0, blocks - 1));
    const double deviation =
        std::sqrt(blocks * block_variance(samples, median, b) * blocks / (blocks - 1));
    const double low = std::max(1.0, std::floor((n + 1) / 2 - t * deviation));
    const auto rank = static_cast<std::size_t>(low);
    return {rank, samples.size() + 1 - rank, 0};
}

}  // namespace

MedianEstimate estimate_median(std::span<const double> samples) {
    MedianEstimate estimate;
    const auto x = sorted(samples);
    if (!x || x->empty()) return estimate;
    estimate.value = quantile_of_sorted(*x, 0.5);
    estimate.dependence = dependence_about(samples, estimate.value);
    const double effective = estimate.dependence.effective_n;
    if (too_few(effective, base::real(samples.size()))) return estimate;
    IntervalRanks ranks = median_ranks(samples.size());
    estimate.method = ranks.low == 0 ? "" : "order statistics";
    if (ranks.low > 0 && estimate.dependence.block_length > 0) {
        const auto blocks =
            block_bootstrap_ranks(samples, estimate.value, estimate.dependence.block_length);
        // Correlation that cancels out must not make the interval narrower.
        if (blocks.low < ranks.low) {
            ranks = blocks;
            estimate.method = "block bootstrap";
        }
    }
    estimate.ci = interval_at(ranks, *x);
    return estimate;
}

double relative_half_width(const MedianEstimate& estimate) {
    const double half =
        std::max(estimate.value - estimate.ci.low, estimate.ci.high - estimate.value);
    return estimate.value != 0 && !std::isnan(estimate.ci.low) ? half / std::abs(estimate.value)
                                                               : kNone;
}

namespace {

namespace bm = boost::math;

// Undefined results are NaN or infinite, as everywhere in this room; long double is not used.
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

double student_quantile(double p, double degrees) {
    return bm::quantile(StudentsT(degrees), p);
}

double student_cdf(double t, double degrees) {
    return bm::cdf(StudentsT(degrees), t);
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
