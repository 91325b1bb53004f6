#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"

namespace ranklab::stats {
namespace {

// In a longer series ranks are taken among this many of its samples, to save time.
constexpr std::size_t kReference = 1024;
constexpr std::size_t kMostLags = 60;
// The bandwidth search stops after this many consecutive insignificant lags.
constexpr std::size_t kQuietLags = 5;
constexpr double kFewestEffective = 10;  // effective samples that an interval needs

// Returns the normal score of each sample's mid-rank. The autocorrelation of scores does not depend
// on the distribution's shape, and an outlier cannot hide it.
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

// 1 for a sample below the median, half for one equal to it.
double below(double x, double median) {
    return x < median ? 1 : x == median ? 0.5 : 0;
}

// Autocorrelations of a series, each computed on its first use.
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

// Whether a positive autocorrelation is significant. For n independent samples an autocorrelation
// has mean -1/n and deviation 1/sqrt(n): lag 1 passes by chance in 2 % of such series, the other
// lags together in 1 %.
bool visible(Autocorrelation& r, std::size_t lags, double n) {
    const double noise = 1 / std::sqrt(n);
    for (std::size_t lag = 1; lag <= std::min(lags, kQuietLags); ++lag)
        if (r.at(lag) + 1 / n > (lag == 1 ? 2.05 : 3) * noise) return true;
    return false;
}

// Politis's adaptive bandwidth (Adaptive bandwidth choice, J. Nonparametric Statistics 15, 2003):
// 2 * (last + 1), where `last` is the last significant lag: the next kQuietLags autocorrelations
// are insignificant. Politis takes 2 * last; an insignificant autocorrelation need not be 0.
std::size_t bandwidth(Autocorrelation& r, std::size_t lags, double n) {
    const double noise = 2 * std::sqrt(std::log10(n) / n);
    std::size_t last = 0;
    for (std::size_t lag = 1; lag <= std::min(lags, last + kQuietLags); ++lag)
        if (std::abs(r.at(lag)) >= noise) last = lag;
    return std::min(2 * (last + 1), lags);
}

struct Correlation {
    double lag1 = 0;  // autocorrelation of the normal scores
    // Long-run variance of the series below() divided by its variance in independent samples.
    double inflation = 1;
    double block_length = 1;  // samples per block, for the bootstrap of the median
};

// Requires at least 3 samples that are not all equal.
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
        // The flat-top window gives the first half of the lags full weight.
        const double t = base::real(lag) / base::real(most);
        const double weight = t <= 0.5 ? 1 : 2 * (1 - t);
        sum += weight * s.at(lag);
        moment += weight * s.at(lag) * base::real(lag);
    }
    // In a short series bias makes later lags negative; their sum must not hide lag 1.
    found.inflation = std::clamp(1 + 2 * std::max(sum, s.at(1)), 1.0, n);
    // The length of least mean squared error (Politis & White 2004, corrected by Patton, Politis &
    // White, Econometric Reviews 28, 2009) times 1.5: the bias, which lowers the interval's
    // coverage, falls with the length.
    const double ratio = 2 * std::max({moment, s.at(1), 0.0}) / found.inflation;
    found.block_length = std::max(1.0, 1.5 * std::cbrt(1.5 * ratio * ratio * n));
    return found;
}

// Returns the effective sample size of 20 to 49 samples, by an AR(1) series with this lag-1
// autocorrelation, whose bias is corrected (Marriott and Pope, Biometrika 41, 1954): so few samples
// underestimate correlation. Returns n for other lengths.
double effective_of_short(double lag1, double n) {
    constexpr double kShort = 20, kLong = 50;
    if (n < kShort || n >= kLong) return n;
    const double phi = std::clamp((lag1 + 1 / n) / (1 - 4 / n), 0.0, 1.0);
    return n * (1 - phi) / (1 + phi);
}

// Counts the samples below the median in each of the n circular blocks of b samples. Returns the
// variance of these counts.
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

// `samples` holds no NaN and at least one value; `median` is their median.
Dependence dependence_about(std::span<const double> samples, double median) {
    const double n = base::real(samples.size());
    Dependence result;
    result.effective_n = n;
    const auto differs = [&](double x) { return x != samples.front(); };
    if (samples.size() < 3 || std::ranges::none_of(samples, differs)) return result;
    const Correlation found = correlation(samples, median);
    result.lag1 = found.lag1;
    // A smaller inflation is not distinguishable from independence.
    if (found.inflation > 1.05) result.effective_n = std::max(1.0, n / found.inflation);
    if (const double few = effective_of_short(found.lag1, n); few < kFewestEffective)
        result.effective_n = std::max(1.0, std::min(result.effective_n, few));
    if (result.effective_n < n) result.block_length = found.block_length;
    result.too_few = result.effective_n < std::min(kFewestEffective, n / 2);
    return result;
}

// The circular block bootstrap of the median (Kuensch 1989; Politis & Romano 1992), without drawing
// resamples. A resample is n/b blocks, so its number of samples below the median is a sum of n/b
// independent counts: nearly normal, with a variance known from all blocks. A change of that number
// moves the median by as many ranks (Woodruff, JASA 47, 1952). Requires n >= 6.
IntervalRanks block_bootstrap_ranks(std::span<const double> samples, double median,
                                    double block_length) {
    const double n = base::real(samples.size());
    const auto b =
        static_cast<std::size_t>(std::clamp(std::ceil(block_length), 1.0, std::floor(n / 4 + 1)));
    const double blocks = n / base::real(b);
    // Few blocks underestimate the variance; Student's t widens the limits (Hesterberg, What
    // teachers should know about the bootstrap, The American Statistician 69, 2015).
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
    if (estimate.dependence.too_few) return estimate;
    IntervalRanks ranks = median_ranks(samples.size());
    estimate.method = ranks.low == 0 ? "" : "order statistics";
    if (ranks.low > 0 && estimate.dependence.block_length > 0) {
        const auto blocks =
            block_bootstrap_ranks(samples, estimate.value, estimate.dependence.block_length);
        // Negative correlation must not make the interval narrower than for independent samples.
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

}  // namespace ranklab::stats
