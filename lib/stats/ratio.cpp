#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"
#include "stats/interval.hpp"

namespace ranklab::stats {
namespace {

constexpr std::size_t kResamples = 2000, kFewestResamples = 200;
// Bounds resamples x samples: long series have narrow intervals, which need fewer resamples.
constexpr std::size_t kMostDraws = 20'000'000;
constexpr std::uint64_t kSeed = 20261123;

// Draws an integer in 0 .. n - 1, the same with every library: the C++ standard fixes the engine's
// bits, but not what its distributions make of them.
std::size_t drawn(std::mt19937_64& engine, std::size_t n) {
    return static_cast<std::size_t>((base::real(engine() >> 11) + 0.5) * 0x1p-53 * base::real(n));
}

// Equal medians have ratio 1, even 0 and 0: an error count that stays 0 has not changed.
double ratio_of(double numerator, double denominator) {
    return numerator == denominator ? 1 : numerator / denominator;
}

// Returns the percentile interval of the ratios that draw() returns, each from one resample of
// `samples` values.
template <class Draw>
Interval interval_of_resamples(std::size_t samples, Draw draw) {
    std::vector<double> ratios(std::clamp(kMostDraws / samples, kFewestResamples, kResamples));
    for (double& ratio : ratios) ratio = draw();
    return {quantile(ratios, (1 - kConfidence) / 2), quantile(ratios, (1 + kConfidence) / 2)};
}

struct Logs {
    double n = 0, mean = 0;
    double squared_error = 0;  ///< squared standard error of the mean
};

Logs logs_of(std::span<const double> values) {
    Logs logs{base::real(values.size())};
    for (const double value : values) logs.mean += std::log(value) / logs.n;
    double squares = 0;
    for (const double value : values) squares += std::pow(std::log(value) - logs.mean, 2);
    logs.squared_error = squares / (logs.n - 1) / logs.n;
    return logs;
}

double welch_degrees(const Logs& a, const Logs& b) {
    const auto part = [](const Logs& side) {
        return side.squared_error * side.squared_error / (side.n - 1);
    };
    return std::pow(a.squared_error + b.squared_error, 2) / (part(a) + part(b));
}

bool all_positive(std::span<const double> values) {
    return std::ranges::all_of(values,
                               [](double value) { return value > 0 && std::isfinite(value); });
}

}  // namespace

RatioEstimate estimate_paired_ratio(std::span<const double> numerator,
                                    std::span<const double> denominator) {
    constexpr std::size_t kFewestPairs = 6;
    RatioEstimate estimate{ratio_of(quantile(numerator, 0.5), quantile(denominator, 0.5)), {}};
    const std::size_t n = numerator.size();
    if (n != denominator.size() || n < kFewestPairs || std::isnan(estimate.ratio)) return estimate;
    std::mt19937_64 random(kSeed);
    std::vector<double> above(n), below(n);
    estimate.ci = interval_of_resamples(n, [&] {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t pair = drawn(random, n);
            above[i] = numerator[pair];
            below[i] = denominator[pair];
        }
        return ratio_of(quantile(above, 0.5), quantile(below, 0.5));
    });
    return estimate;
}

RatioEstimate run_ratio(std::span<const double> numerator, std::span<const double> denominator) {
    constexpr std::size_t kFewest = 3;
    RatioEstimate estimate{ratio_of(quantile(numerator, 0.5), quantile(denominator, 0.5)), {}};
    const bool enough = std::min(numerator.size(), denominator.size()) >= kFewest;
    if (!enough || !all_positive(numerator) || !all_positive(denominator)) return estimate;
    const Logs a = logs_of(numerator), b = logs_of(denominator);
    const double error = std::sqrt(a.squared_error + b.squared_error);
    const double half = error > 0 ? error * student_quantile(0.975, welch_degrees(a, b)) : 0;
    estimate.ci = {std::min(estimate.ratio, std::exp(a.mean - b.mean - half)),
                   std::max(estimate.ratio, std::exp(a.mean - b.mean + half))};
    return estimate;
}

}  // namespace ranklab::stats
