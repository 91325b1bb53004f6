#include "stats/series.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace ranklab::stats {
namespace {

constexpr std::size_t kBatch = 5;
constexpr std::size_t kFewestForWarmup = 20;  // samples; in fewer no warm-up is searched

// Clamps the samples to the far-out fences of the later half, so that one slow step does not pass
// for warm-up. Empty if a sample is NaN.
std::vector<double> without_far_out(std::span<const double> samples) {
    const Outliers fences = outliers(samples.subspan(samples.size() / 2));
    std::vector<double> x;
    if (std::isnan(fences.low_fence)) return x;
    for (const double value : samples)
        x.push_back(std::clamp(value, fences.low_fence, fences.high_fence));
    return x;
}

std::vector<double> batch_means(std::span<const double> x) {
    std::vector<double> means;
    for (std::size_t i = 0; i + kBatch <= x.size(); i += kBatch) {
        const auto batch = x.subspan(i, kBatch);
        means.push_back(std::accumulate(batch.begin(), batch.end(), 0.0) / kBatch);
    }
    return means;
}

// Running mean and sum of squared deviations (Welford, Technometrics 4, 1962).
struct Tail {
    double count = 0, mean = 0, squares = 0;
    void add(double x) {
        const double off = x - mean;
        mean += off / ++count;
        squares += off * (x - mean);
    }
    double mser() const { return squares / (count * count); }
};

// How far a batch's median must lie from the later half's median to count as warm-up: five standard
// deviations of a batch mean: the observed one or that of independent samples, the larger one. (A
// median of five varies 1.25 times as much as a mean of five, but one slow step does not move it.)
double unlike(const Tail& rest, std::span<const double> later_half) {
    Tail singles;
    for (const double x : later_half) singles.add(x);
    const double batches = rest.squares / std::max(1.0, rest.count - 1);
    return 5 * std::sqrt(std::max(batches, singles.squares / (singles.count - 1) / kBatch));
}

}  // namespace

Outliers outliers(std::span<const double> samples) {
    Outliers found;
    const auto x = sorted(samples);
    if (!x || x->empty()) return found;
    const double lower = quantile_of_sorted(*x, 0.25);
    const double upper = quantile_of_sorted(*x, 0.75);
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
    const std::vector<double> x = without_far_out(samples);
    if (x.empty()) return 0;
    const std::vector<double> means = batch_means(x);
    std::vector<Tail> tails(means.size());  // each over its batch and all later ones
    Tail tail;
    for (std::size_t i = means.size(); i-- > 0;) {
        tail.add(means[i]);
        tails[i] = tail;
    }
    std::size_t end = 0;
    for (std::size_t i = 0; i <= means.size() / 2; ++i)
        if (tails[i].mser() < tails[end].mser()) end = i;
    // Even without a warm-up the minimum is seldom at the first batch: go back to the last batch
    // that differs from the rest.
    const auto later_half = std::span<const double>(x).subspan(x.size() / 2);
    const double limit = unlike(tails[end], later_half);
    const double steady = quantile(later_half, 0.5);
    const auto off = [&](std::size_t batch) {
        return std::abs(quantile(std::span<const double>(x).subspan(batch * kBatch, kBatch), 0.5) -
                        steady);
    };
    while (end > 0 && off(end - 1) <= limit) --end;
    return end * kBatch;
}

}  // namespace ranklab::stats
