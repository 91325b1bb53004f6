#include "stats/series.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/order.hpp"

namespace ranklab::stats {
namespace {

constexpr std::size_t kBatch = 5;
constexpr std::size_t kFewestForWarmup = 20;

std::vector<double> batch_means(std::span<const double> samples) {
    std::vector<double> means;
    for (std::size_t i = 0; i + kBatch <= samples.size(); i += kBatch) {
        const auto batch = samples.subspan(i, kBatch);
        means.push_back(std::accumulate(batch.begin(), batch.end(), 0.0) / kBatch);
    }
    return means;
}

}  // namespace

Outliers outliers(std::span<const double> samples) {
    Outliers found;
    const auto x = sorted(samples);
    if (!x || x->empty()) return found;
    const auto at = [&](std::size_t rank) { return (*x)[rank - 1]; };
    const double lower = quantile_at(x->size(), 0.25, at);
    const double upper = quantile_at(x->size(), 0.75, at);
    found.low_fence = lower - 3 * (upper - lower);
    found.high_fence = upper + 3 * (upper - lower);
    for (const double value : *x) {
        found.below += value < found.low_fence ? 1 : 0;
        found.above += value > found.high_fence ? 1 : 0;
    }
    return found;
}

std::size_t warmup_end(std::span<const double> samples) {
    if (samples.size() < kFewestForWarmup) return 0;
    const std::vector<double> means = batch_means(samples);
    // From the end: the mean and the sum of squares about it of what follows each batch (Welford 1962).
    double count = 0, mean = 0, squares = 0;
    double least = 0;
    std::size_t end = 0;
    for (std::size_t i = means.size(); i-- > 0;) {
        const double off = means[i] - mean;
        mean += off / ++count;
        squares += off * (means[i] - mean);
        if (i > means.size() / 2) continue;
        const double statistic = squares / (count * count);
        if (i == means.size() / 2 || statistic <= least) {
            least = statistic;
            end = i;
        }
    }
    return end * kBatch;
}

}  // namespace ranklab::stats
