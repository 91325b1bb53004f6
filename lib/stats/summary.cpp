#include "stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace ranklab::stats {
namespace {

// nullopt where a sample is NaN: it has no place in an order, so no order statistic means anything.
std::optional<std::vector<double>> sorted(std::span<const double> samples) {
    if (std::any_of(samples.begin(), samples.end(), [](double x) { return std::isnan(x); }))
        return std::nullopt;
    std::vector<double> copy(samples.begin(), samples.end());
    std::sort(copy.begin(), copy.end());
    return copy;
}

double sorted_quantile(const std::vector<double>& x, double q) {
    if (x.empty()) return kNone;
    const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(x.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const double fraction = position - static_cast<double>(below);
    return fraction == 0 ? x[below] : std::lerp(x[below], x[below + 1], fraction);
}

// P(Bin(n, 1/2) = k)
double fair_binomial(double n, double k) {
    return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0));
}

// The largest l with P(Bin(n, 1/2) < l) <= tail; 0 where there is none. The sum starts twenty standard
// deviations (sqrt(n)/2 each) below the mean: what lies under that is less than 1e-80.
std::size_t lower_rank(std::size_t n, double tail) {
    const double size = static_cast<double>(n);
    double k = std::max(0.0, std::floor(size / 2 - 10 * std::sqrt(size)));
    double probability = fair_binomial(size, k);
    double below = 0;
    while (k < size && below + probability <= tail) {
        below += probability;
        probability *= (size - k) / (k + 1);
        ++k;
    }
    return static_cast<std::size_t>(k);
}

Interval sorted_median_interval(const std::vector<double>& x, double level) {
    const std::size_t l = lower_rank(x.size(), (1 - level) / 2);
    if (x.empty() || l < 1 || 2 * l > x.size()) return {};
    return {x[l - 1], x[x.size() - l]};
}

}  // namespace

double quantile(std::span<const double> samples, double q) {
    const auto x = sorted(samples);
    return x && !std::isnan(q) ? sorted_quantile(*x, q) : kNone;
}

Interval median_interval(std::span<const double> samples, double level) {
    const auto x = sorted(samples);
    return x ? sorted_median_interval(*x, level) : Interval{};
}

Summary summarise(std::span<const double> samples) {
    Summary summary;
    summary.n = samples.size();
    const auto x = sorted(samples);
    if (!x || x->empty()) return summary;
    summary.median = sorted_quantile(*x, 0.5);
    summary.mean = std::accumulate(x->begin(), x->end(), 0.0) / static_cast<double>(x->size());
    summary.min = x->front();
    summary.max = x->back();
    summary.p95 = sorted_quantile(*x, 0.95);
    summary.p99 = sorted_quantile(*x, 0.99);
    summary.ci95 = sorted_median_interval(*x, 0.95);
    return summary;
}

Summary summarise_rate(std::span<const double> counts, std::span<const double> costs) {
    std::vector<double> rates(std::min(counts.size(), costs.size()));
    for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = counts[i] / costs[i];
    Summary summary = summarise(rates);
    if (rates.empty() || std::isnan(summary.mean)) return summary;
    summary.mean =
        std::accumulate(counts.begin(), counts.end(), 0.0) / std::accumulate(costs.begin(), costs.end(), 0.0);
    return summary;
}

double load_imbalance(std::span<const double> cost_per_rank) {
    if (cost_per_rank.empty()) return kNone;
    const double sum = std::accumulate(cost_per_rank.begin(), cost_per_rank.end(), 0.0);
    const double mean = sum / static_cast<double>(cost_per_rank.size());
    if (mean == 0 || cost_per_rank.size() == 1) return 0;
    return *std::max_element(cost_per_rank.begin(), cost_per_rank.end()) / mean - 1;
}

}  // namespace ranklab::stats
