// Order statistics, of which summaries and intervals are made.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::stats {

/// nullopt where a sample is NaN: it has no place in an order, so no order statistic means anything.
std::optional<std::vector<double>> sorted(std::span<const double> samples);

/// Between two neighbours in the order, which may be infinite.
double between(double low, double high, double fraction);

/// `x` is sorted and has at least one value.
double quantile_of_sorted(std::span<const double> x, double q);

/// The ranks (from 1) of an interval: its ends lie `weight` of the way from x(low) to x(low + 1), and from
/// x(high) to x(high - 1). low = 0: there is none.
struct IntervalRanks {
    std::size_t low = 0, high = 0;
    double weight = 0;
};
/// Order statistics for fewer than this many samples; from here on interpolated to the level.
inline constexpr std::size_t kInterpolatedFrom = 30;
/// The distribution-free interval of the median of independent samples: order statistics x(l), x(u) with the
/// largest l such that P(Bin(n, 1/2) < l) <= (1 - level)/2 and u = n + 1 - l (Hahn & Meeker, Statistical
/// Intervals, 5.2). It covers at least as often as `level`: up to 98 % for 95 %. From n = 30 on its ends are
/// interpolated towards x(l + 1), x(u - 1) so that it covers as often as it says (Hettmansperger & Sheather,
/// Statistics & Probability Letters 4, 1986). low = 0 where no such l >= 1 exists (n < 6
/// at 95 %).
IntervalRanks median_ranks(std::size_t n, double level);
/// NaN where `ranks` has none. `x` is sorted.
Interval interval_at(const IntervalRanks& ranks, std::span<const double> x);

}  // namespace ranklab::stats
