#include <algorithm>
#include <cmath>
#include <vector>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"
#include "stats/interval.hpp"
#include "stats/repeats.hpp"

namespace ranklab::stats {
namespace {

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
