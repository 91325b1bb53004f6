#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/block_bootstrap.hpp"
#include "stats/correlation.hpp"
#include "stats/distributions.hpp"
#include "stats/order.hpp"

namespace ranklab::stats {
namespace {

bool has_nan(std::span<const double> samples) {
    return std::any_of(samples.begin(), samples.end(), [](double x) { return std::isnan(x); });
}

}  // namespace

Interval quantile_interval(std::span<const double> samples, double q, double level) {
    const auto x = sorted(samples);
    if (!x || !(q > 0 && q < 1)) return {};
    const std::size_t n = x->size();
    const std::size_t l = binomial_rank(n, q, (1 - level) / 2).k;
    // P(Bin(n, q) >= u) <= tail is P(Bin(n, 1 - q) < n + 1 - u) <= tail.
    const std::size_t from_above = binomial_rank(n, 1 - q, (1 - level) / 2).k;
    if (l < 1 || from_above < 1 || l + from_above > n) return {};
    return {(*x)[l - 1], (*x)[n - from_above]};
}

MedianEstimate estimate_median(std::span<const double> samples, double level) {
    MedianEstimate estimate;
    if (samples.empty() || has_nan(samples)) return estimate;
    Selection select(samples);
    const auto x = [&](std::size_t rank) { return select(rank); };
    estimate.value = quantile_at(samples.size(), 0.5, x);
    estimate.dependence = dependence_about(samples, estimate.value);
    IntervalRanks ranks = median_ranks(samples.size(), level);
    estimate.method = ranks.low == 0 ? "" : "order statistics";
    if (ranks.low > 0 && estimate.dependence.block_length > 0) {
        const auto blocks =
            block_bootstrap_ranks(samples, estimate.value, estimate.dependence.block_length, level);
        if (blocks.low < ranks.low) {  // correlation that adds up to nothing makes no interval narrower
            ranks = blocks;
            estimate.method = "block bootstrap";
        }
    }
    estimate.ci = interval_at(ranks, x);
    return estimate;
}

Dependence dependence(std::span<const double> samples) {
    if (samples.empty() || has_nan(samples)) return {};
    Selection select(samples);
    return dependence_about(samples,
                            quantile_at(samples.size(), 0.5, [&](std::size_t rank) { return select(rank); }));
}

double relative_half_width(const MedianEstimate& estimate) {
    const double half = std::max(estimate.value - estimate.ci.low, estimate.ci.high - estimate.value);
    return estimate.value != 0 && !std::isnan(estimate.ci.low) ? half / std::abs(estimate.value) : kNone;
}

}  // namespace ranklab::stats
