#include "stats/order.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "stats/distributions.hpp"

namespace ranklab::stats {

std::optional<std::vector<double>> sorted(std::span<const double> samples) {
    if (std::any_of(samples.begin(), samples.end(), [](double x) { return std::isnan(x); }))
        return std::nullopt;
    std::vector<double> copy(samples.begin(), samples.end());
    std::sort(copy.begin(), copy.end());
    return copy;
}

double between(double low, double high, double fraction) {
    if (low == high) return low;  // two infinities, too
    return std::lerp(low, high, fraction);
}

double quantile_of_sorted(std::span<const double> x, double q) {
    const double position = std::clamp(q, 0.0, 1.0) * base::real(x.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const double fraction = position - base::real(below);
    return fraction == 0 ? x[below] : between(x[below], x[below + 1], fraction);
}

IntervalRanks median_ranks(std::size_t n, double level) {
    const auto [l, below] = binomial_rank(n, 0.5, (1 - level) / 2);
    if (l < 1 || 2 * l > n) return {};
    IntervalRanks ranks{l, n + 1 - l, 0};
    if (n < kInterpolatedFrom || 2 * l == n) return ranks;
    // Hettmansperger & Sheather 1986: between the interval of x(l), which covers a little oftener than asked,
    // and that of x(l + 1), which covers less often.
    const double size = base::real(n);
    const double rank = base::real(l);
    const double next = binomial_probability(n, 0.5, l);
    const double share = (1 - 2 * below - level) / (2 * next);
    ranks.weight = std::clamp((size - rank) * share / (rank + (size - 2 * rank) * share), 0.0, 1.0);
    return ranks;
}

Interval interval_at(const IntervalRanks& ranks, std::span<const double> x) {
    if (ranks.low == 0) return {};
    const double low = x[ranks.low - 1];
    const double high = x[ranks.high - 1];
    if (ranks.weight == 0) return {low, high};
    return {between(low, x[ranks.low], ranks.weight), between(high, x[ranks.high - 2], ranks.weight)};
}

}  // namespace ranklab::stats
