// The statistics of a series that is not held in memory.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/cast.hpp"
#include "stats/correlation.hpp"
#include "stats/distributions.hpp"
#include "stats/order.hpp"
#include "stats/passes.hpp"
#include "stats/series.hpp"

namespace ranklab::stats {
namespace {

constexpr std::size_t kMostHeld = std::size_t{1} << 18;
constexpr std::size_t kStretches = 2000;

// How many samples of each stretch lie below the median, and how neighbours agree about that.
struct Stretches {
    std::size_t length = 0;
    std::vector<double> below;  ///< less what is to be expected; whole stretches only
    double agreement = 0;       ///< lag-1 autocorrelation
};

Stretches stretches(const Source& source, std::size_t n, double median) {
    Stretches all{.length = n / kStretches, .below = {}};
    double inside = 0, products = 0, squares = 0, last = 0;
    std::size_t count = 0;
    for_each(source, [&](double value) {
        const double sign = value < median ? 1 : value > median ? -1 : 0;
        products += sign * last;
        squares += sign * sign;
        last = sign;
        inside += sign / 2;
        if (++count % all.length != 0) return;
        all.below.push_back(inside);
        inside = 0;
    });
    all.agreement = squares > 0 ? products / squares : 0;
    return all;
}

// Stretches of independent samples vary by 1/4 a sample, and do not hang together.
Correlation correlation_of(const Stretches& all, double n) {
    double squares = 0;
    for (const double below : all.below) squares += below * below;
    if (squares == 0) return {};
    const double count = base::real(all.below.size());
    const Correlation between_stretches = correlation(all.below, quantile(all.below, 0.5));
    const double variance = 4 * squares / count / base::real(all.length);
    Correlation found;
    found.lag1 = std::sin(std::numbers::pi / 2 * all.agreement);
    found.visible = between_stretches.visible || variance > 1 + 3 * std::sqrt(2 / count) ||
                    all.agreement > 4 / std::sqrt(n);
    if (!found.visible) return found;
    found.inflation = std::clamp(variance * between_stretches.inflation, 1.0, n);
    found.block_length = base::real(all.length) * between_stretches.block_length;
    return found;
}

IntervalRanks ranks_of(std::size_t n, double inflation, double level) {
    const double size = base::real(n);
    const double t = student_quantile((1 + level) / 2, base::real(kStretches - 1));
    const double low = std::max(1.0, std::floor((size + 1) / 2 - t * std::sqrt(size * inflation) / 2));
    const auto rank = static_cast<std::size_t>(low);
    return {rank, n + 1 - rank, 0};
}

std::vector<double> held(const Source& source) {
    std::vector<double> samples;
    for_each(source, [&](double value) { samples.push_back(value); });
    return samples;
}

}  // namespace

MedianEstimate estimate_median(const Source& source, double level) {
    const Overview seen = overview(source);
    if (seen.n <= kMostHeld) return estimate_median(held(source), level);
    MedianEstimate estimate;
    if (seen.has_nan) return estimate;
    ask(source, [&](auto x) { estimate.value = quantile_at(seen.n, 0.5, x); });
    const double n = base::real(seen.n);
    const Correlation found = correlation_of(stretches(source, seen.n, estimate.value), n);
    estimate.dependence = dependence_of(found, n);
    const bool blocks = estimate.dependence.block_length > 0;
    estimate.method = blocks ? "block bootstrap" : "order statistics";
    const auto ranks = blocks ? ranks_of(seen.n, found.inflation, level) : median_ranks(seen.n, level);
    ask(source, [&](auto x) { estimate.ci = interval_at(ranks, x); });
    return estimate;
}

Outliers outliers(const Source& source) {
    Outliers found;
    const Overview seen = overview(source);
    if (seen.n == 0 || seen.has_nan) return found;
    ask(source, [&](auto x) { found = fences(seen.n, x); });
    for_each(source, [&](double value) {
        found.below += value < found.low_fence ? 1 : 0;
        found.above += value > found.high_fence ? 1 : 0;
    });
    return found;
}

}  // namespace ranklab::stats
