#include "stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"

namespace ranklab::stats {
namespace {

double between(double low, double high, double fraction) {
    if (low == high) return low;  // std::lerp promises nothing for infinities
    return std::lerp(low, high, fraction);
}

}  // namespace

std::optional<std::vector<double>> sorted(std::span<const double> samples) {
    if (std::any_of(samples.begin(), samples.end(), [](double x) { return std::isnan(x); }))
        return std::nullopt;
    std::vector<double> copy(samples.begin(), samples.end());
    std::sort(copy.begin(), copy.end());
    return copy;
}

double quantile_of_sorted(std::span<const double> x, double q) {
    const double position = std::clamp(q, 0.0, 1.0) * base::real(x.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const double fraction = position - base::real(below);
    return fraction == 0 ? x[below] : between(x[below], x[below + 1], fraction);
}

double median_rank(std::size_t n, std::size_t interpolated_from) {
    const auto [l, below] = binomial_rank(n, 0.5, (1 - kConfidence) / 2);
    if (l < 1 || 2 * l > n) return 0;
    const double rank = base::real(l);
    if (n < interpolated_from || 2 * l == n) return rank;
    // x(l) gives more coverage than asked for and x(l + 1) less (Hettmansperger & Sheather 1986).
    const double size = base::real(n);
    const double next = binomial_probability(n, 0.5, l);
    const double share = (1 - 2 * below - kConfidence) / (2 * next);
    return rank + std::clamp((size - rank) * share / (rank + (size - 2 * rank) * share), 0.0, 1.0);
}

Interval interval_at(double rank, std::span<const double> x) {
    if (rank == 0) return {};
    const auto low = static_cast<std::size_t>(rank), high = x.size() + 1 - low;
    const double weight = rank - base::real(low);
    if (weight == 0) return {x[low - 1], x[high - 1]};
    return {between(x[low - 1], x[low], weight), between(x[high - 1], x[high - 2], weight)};
}

double quantile(std::span<const double> samples, double q) {
    const auto x = sorted(samples);
    return x && !x->empty() && !std::isnan(q) ? quantile_of_sorted(*x, q) : kNone;
}

Summary summarise(std::span<const double> samples) {
    Summary summary;
    summary.n = samples.size();
    const auto x = sorted(samples);
    if (!x || x->empty()) return summary;
    summary.median = quantile_of_sorted(*x, 0.5);
    summary.mean = std::accumulate(x->begin(), x->end(), 0.0) / base::real(x->size());
    summary.min = x->front();
    summary.max = x->back();
    summary.p95 = quantile_of_sorted(*x, 0.95);
    summary.p99 = quantile_of_sorted(*x, 0.99);
    summary.ci95 = interval_at(median_rank(x->size()), *x);
    return summary;
}

Summary summarise_rate(std::span<const double> counts, std::span<const double> costs) {
    std::vector<double> each(std::min(counts.size(), costs.size()));  // cost of one
    for (std::size_t i = 0; i < each.size(); ++i) each[i] = costs[i] / counts[i];
    const Summary cost = summarise(each);
    Summary rate;
    rate.n = cost.n;
    if (each.empty() || std::isnan(cost.mean)) return rate;
    rate.median = 1 / cost.median;
    rate.min = 1 / cost.max;
    rate.max = 1 / cost.min;
    rate.p95 = 1 / quantile(each, 0.05);
    rate.p99 = 1 / quantile(each, 0.01);
    rate.ci95 = {1 / cost.ci95.high, 1 / cost.ci95.low};
    rate.mean = std::accumulate(counts.begin(), counts.end(), 0.0) /
                std::accumulate(costs.begin(), costs.end(), 0.0);
    return rate;
}

double mean_of_finite(std::span<const double> values) {
    double sum = 0;
    std::size_t count = 0;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        sum += value;
        ++count;
    }
    return count == 0 ? kNone : sum / base::real(count);
}

double load_imbalance(std::span<const double> cost_per_rank) {
    if (cost_per_rank.empty()) return kNone;
    const double sum = std::accumulate(cost_per_rank.begin(), cost_per_rank.end(), 0.0);
    const double mean = sum / base::real(cost_per_rank.size());
    if (mean == 0 || cost_per_rank.size() == 1) return 0;
    return *std::max_element(cost_per_rank.begin(), cost_per_rank.end()) / mean - 1;
}

}  // namespace ranklab::stats
