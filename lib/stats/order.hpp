// What summaries and intervals are made of: values at ranks. The rules ask for x(r) by a function, so that
// the same code serves a sorted vector and a source that is read in passes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/cast.hpp"
#include "stats/summary.hpp"

namespace ranklab::stats {

/// nullopt where a sample is NaN: it has no place in an order, so no order statistic means anything.
std::optional<std::vector<double>> sorted(std::span<const double> samples);

/// Order statistics without sorting everything, where few are asked for.
class Selection {
  public:
    explicit Selection(std::span<const double> samples) : x_(samples.begin(), samples.end()) {}
    double operator()(std::size_t rank);  ///< from 1

  private:
    std::vector<double> x_;
};

/// Between two neighbours in the order, which may be infinite.
double between(double low, double high, double fraction);

/// The ranks (from 1) of an interval: its ends lie `weight` of the way from x(low) to x(low + 1), and from
/// x(high) to x(high - 1). low = 0: there is none.
struct IntervalRanks {
    std::size_t low = 0, high = 0;
    double weight = 0;
};
/// Order statistics for fewer than this many samples; from here on interpolated to the level.
inline constexpr std::size_t kInterpolatedFrom = 30;
IntervalRanks median_ranks(std::size_t n, double level);

template <class ValueAt>
double quantile_at(std::size_t n, double q, ValueAt x) {
    const double position = (q < 0 ? 0 : q > 1 ? 1 : q) * base::real(n - 1);
    const auto below = static_cast<std::size_t>(position);
    const double fraction = position - base::real(below);
    return fraction == 0 ? x(below + 1) : between(x(below + 1), x(below + 2), fraction);
}

template <class ValueAt>
Interval interval_at(const IntervalRanks& ranks, ValueAt x) {
    if (ranks.low == 0) return {};
    if (ranks.weight == 0) return {x(ranks.low), x(ranks.high)};
    return {between(x(ranks.low), x(ranks.low + 1), ranks.weight),
            between(x(ranks.high), x(ranks.high - 1), ranks.weight)};
}

template <class ValueAt>
Interval median_interval_at(std::size_t n, double level, ValueAt x) {
    return interval_at(median_ranks(n, level), x);
}

/// All of a summary but n and the mean. n > 0.
template <class ValueAt>
void fill_order_statistics(Summary& summary, std::size_t n, ValueAt x) {
    summary.median = quantile_at(n, 0.5, x);
    summary.min = x(std::size_t{1});
    summary.max = x(n);
    summary.p95 = quantile_at(n, 0.95, x);
    summary.p99 = quantile_at(n, 0.99, x);
    summary.ci95 = median_interval_at(n, 0.95, x);
}

}  // namespace ranklab::stats
