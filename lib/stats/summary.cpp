#include "stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/numbers.hpp"
#include "stats/order.hpp"

namespace ranklab::stats {
double quantile(std::span<const double> samples, double q) {
    const auto x = sorted(samples);
    return x && !x->empty() && !std::isnan(q) ? quantile_of_sorted(*x, q) : kNone;
}

Summary summarise(std::span<const double> samples) {
    constexpr double kLevel = 0.95;
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
    summary.ci95 = interval_at(median_ranks(x->size(), kLevel), *x);
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
    rate.mean =
        std::accumulate(counts.begin(), counts.end(), 0.0) / std::accumulate(costs.begin(), costs.end(), 0.0);
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
