#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>

#include "stats/dependence.hpp"

namespace ranklab::stats {

MedianEstimate estimate_median(std::span<const double> samples, double level) {
    MedianEstimate estimate;
    const auto x = sorted(samples);
    if (!x || x->empty()) return estimate;
    estimate.value = quantile_of_sorted(*x, 0.5);
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
    estimate.ci = interval_at(ranks, *x);
    return estimate;
}

Dependence dependence(std::span<const double> samples) {
    const auto x = sorted(samples);
    if (!x || x->empty()) return {};
    return dependence_about(samples, quantile_of_sorted(*x, 0.5));
}

double relative_half_width(const MedianEstimate& estimate) {
    const double half = std::max(estimate.value - estimate.ci.low, estimate.ci.high - estimate.value);
    return estimate.value != 0 && !std::isnan(estimate.ci.low) ? half / std::abs(estimate.value) : kNone;
}

}  // namespace ranklab::stats
