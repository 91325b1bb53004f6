#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"
#include "stats/repeats.hpp"

namespace ranklab::stats {
namespace {

// In a longer series ranks are taken among at most this many of its samples, to save time.
constexpr std::size_t kReference = 1024;
// Fewer samples do not show whether they depend on each other, or change slowly.
constexpr std::size_t kFewestDependent = 10, kFewestSlow = 16;

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

// NaN if all samples are equal.
double lag1_of(std::span<const double> samples) {
    const std::vector<double> z = normal_scores(samples);
    const double mean = std::accumulate(z.begin(), z.end(), 0.0) / base::real(z.size());
    double products = 0, squares = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
        squares += (z[i] - mean) * (z[i] - mean);
        if (i > 0) products += (z[i] - mean) * (z[i - 1] - mean);
    }
    return products / squares;
}

// How a series' dependence widens the interval of its median.
struct Widening {
    double inflation = 1;  ///< long-run variance of below() / its variance in independent samples
    double degrees = 0;    ///< of freedom of this estimate
    double factor(double n) const {
        constexpr double kUpper = (1 + kConfidence) / 2;
        return std::sqrt(inflation) * student_quantile(kUpper, degrees) /
               student_quantile(kUpper, n - 1);
    }
};

// As for a Gaussian AR(1) series: below() has the autocorrelation 2/pi asin(phi^k) at lag k. Short
// series underestimate phi (Marriott & Pope, Biometrika 41, 1954). It is raised a little more than
// that correction, since too small a phi costs more coverage than too large a one regains.
Widening by_lag1(double lag1, double n) {
    const double phi = std::clamp((lag1 + 2.7 / n) / (1 - 3 / n), 0.0, 0.95);
    double inflation = 1;
    for (double r = phi; r > 1e-4; r *= phi) inflation += 4 / std::numbers::pi * std::asin(r);
    return {inflation, std::max(3.0, n / inflation - 1)};
}

// By the mean square of the `count` slowest components in the cosine transform of below() (Lazarus,
// Lewis, Stock & Watson, HAR inference, J. Business & Economic Statistics 36, 2018). Any kind of
// dependence shows in these components.
Widening by_slowest(std::span<const double> sides, std::size_t count) {
    const double n = base::real(sides.size());
    double squares = 0;
    for (std::size_t j = 1; j <= count; ++j) {
        const double angle = std::numbers::pi * base::real(j) / n;
        const auto turn = std::polar(1.0, angle);
        auto at = std::polar(1.0, angle / 2);
        double sum = 0;
        for (const double side : sides) {
            sum += side * at.real();
            at *= turn;
        }
        squares += 2 * sum * sum / n;
    }
    return {4 * squares / base::real(count), base::real(count)};
}

// The widest of three estimates. The four slowest components alone find levels that change a few
// times in the series, at a price in width: their estimate must be twice the other two, or just
// exceed them in a short series that is clearly dependent.
Widening widening_of(std::span<const double> samples, double median, double lag1) {
    const double n = base::real(samples.size());
    Widening widest{1, n - 1};
    if (samples.size() < kFewestDependent || std::isnan(lag1)) return widest;
    const auto widen = [&](const Widening& other) {
        if (other.factor(n) > widest.factor(n)) widest = other;
    };
    const Widening near = by_lag1(lag1, n);
    widen(near);
    if (samples.size() < kFewestSlow) return widest;
    std::vector<double> sides;
    for (const double x : samples) sides.push_back(below(x, median));
    const double many = std::clamp(std::round(0.4 * std::cbrt(n * n)), 10.0, 100.0);
    const Widening slow = by_slowest(sides, static_cast<std::size_t>(many));
    widen(slow);
    const Widening slowest = by_slowest(sides, 4);
    const double most = std::max(near.inflation, slow.inflation);
    if (slowest.inflation > (samples.size() < 200 && most > 1.5 ? 1 : 2) * most) widen(slowest);
    return widest;
}

// Extends the sorted samples' range at each end by `beyond` times 1.3 interquartile ranges, half
// the range that normal samples would have; in logarithms if all samples are positive.
Interval beyond_ends(std::span<const double> x, double beyond) {
    const bool logs = x.front() > 0;
    const auto scaled = [&](double value) { return logs ? std::log(value) : value; };
    const auto back = [&](double value) { return logs ? std::exp(value) : value; };
    const double more = std::min(2.0, beyond) * 1.3 *
                        (scaled(quantile_of_sorted(x, 0.75)) - scaled(quantile_of_sorted(x, 0.25)));
    return {back(scaled(x.front()) - more), back(scaled(x.back()) + more)};
}

// Equal medians have ratio 1, even 0 and 0: an error count that stays 0 has not changed.
double ratio_of(double numerator, double denominator) {
    return numerator == denominator ? 1 : numerator / denominator;
}

struct Mean {
    double n = 0, value = kNone;
    double squared_error = 0;  ///< squared standard error
};

Mean mean_of(std::span<const double> samples) {
    Mean mean{base::real(samples.size()), mean_of_finite(samples)};
    for (const double x : samples)
        mean.squared_error += std::pow(x - mean.value, 2) / (mean.n - 1) / mean.n;
    return mean;
}

Mean mean_of_logs(std::span<const double> values) {
    const double n = base::real(values.size());
    return {n, log_mean(values), log_squares(values) / (n - 1) / n};
}

double half_width(double squared_error, double degrees) {
    return squared_error > 0
               ? std::sqrt(squared_error) * student_quantile((1 + kConfidence) / 2, degrees)
               : 0;
}

double welch_degrees(const Mean& a, const Mean& b) {
    const auto part = [](const Mean& side) {
        return side.squared_error * side.squared_error / (side.n - 1);
    };
    return std::pow(a.squared_error + b.squared_error, 2) / (part(a) + part(b));
}

bool all_positive(std::span<const double> values) {
    return std::ranges::all_of(values,
                               [](double value) { return value > 0 && std::isfinite(value); });
}

}  // namespace

MedianEstimate estimate_median(std::span<const double> samples) {
    MedianEstimate estimate;
    const auto x = sorted(samples);
    if (!x || x->empty()) return estimate;
    const double n = base::real(samples.size()), middle = (n + 1) / 2;
    estimate.value = quantile_of_sorted(*x, 0.5);
    estimate.effective_n = n;
    if (samples.size() >= 3) estimate.lag1 = lag1_of(samples);
    const double independent = median_rank(samples.size(), kFewestDependent);
    if (independent == 0) return estimate;
    const Widening widening = widening_of(samples, estimate.value, estimate.lag1);
    const double half = (middle - independent) * widening.factor(n);
    estimate.effective_n = std::max(1.0, n / widening.inflation);
    estimate.method = widening.inflation > 1 ? "long-run variance" : "order statistics";
    estimate.ci = half <= middle - 1 ? interval_at(middle - half, *x)
                                     : beyond_ends(*x, half / (middle - 1) - 1);
    return estimate;
}

double relative_half_width(const MedianEstimate& estimate) {
    const double half =
        std::max(estimate.value - estimate.ci.low, estimate.ci.high - estimate.value);
    return estimate.value != 0 && !std::isnan(estimate.ci.low) ? half / std::abs(estimate.value)
                                                               : kNone;
}

Interval mean_interval(std::span<const double> samples) {
    const Mean mean = mean_of(samples);
    if (samples.size() < 2) return {};
    const double half = half_width(mean.squared_error, mean.n - 1);
    return {mean.value - half, mean.value + half};
}

// A ratio r is too large if the numerator is below r times the denominator in most pairs: this sign
// test excludes the ratios outside the order statistics of the pairs' ratios.
RatioEstimate estimate_paired_ratio(std::span<const double> numerator,
                                    std::span<const double> denominator) {
    RatioEstimate estimate{ratio_of(quantile(numerator, 0.5), quantile(denominator, 0.5)), {}};
    if (numerator.size() != denominator.size()) return estimate;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < numerator.size(); ++i)
        ratios.push_back(ratio_of(numerator[i], denominator[i]));
    const auto [low, high] = summarise(ratios).ci95;
    if (!std::isnan(low))
        estimate.ci = {std::min(estimate.ratio, low), std::max(estimate.ratio, high)};
    return estimate;
}

RatioEstimate run_ratio(std::span<const double> numerator, std::span<const double> denominator) {
    constexpr std::size_t kFewest = 3;
    RatioEstimate estimate{ratio_of(quantile(numerator, 0.5), quantile(denominator, 0.5)), {}};
    const bool enough = std::min(numerator.size(), denominator.size()) >= kFewest;
    if (!enough || !all_positive(numerator) || !all_positive(denominator)) return estimate;
    const Mean a = mean_of_logs(numerator), b = mean_of_logs(denominator);
    const double half = half_width(a.squared_error + b.squared_error, welch_degrees(a, b));
    estimate.ci = {std::min(estimate.ratio, std::exp(a.value - b.value - half)),
                   std::max(estimate.ratio, std::exp(a.value - b.value + half))};
    return estimate;
}

}  // namespace ranklab::stats
