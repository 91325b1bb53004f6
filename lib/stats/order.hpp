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

/// Of sorted values, at least one.
double quantile_of_sorted(std::span<const double> x, double q);

/// The ranks (from 1) of an interval: its ends lie `weight` of the way from x(low) to x(low + 1), and from
/// x(high) to x(high - 1). low = 0: there is none.
struct IntervalRanks {
    std::size_t low = 0, high = 0;
    double weight = 0;
};
/// Order statistics for fewer than this many samples; from here on interpolated to the level.
inline constexpr std::size_t kInterpolatedFrom = 30;
IntervalRanks median_ranks(std::size_t n, double level);
/// Of sorted values.
Interval interval_at(const IntervalRanks& ranks, std::span<const double> x);

}  // namespace ranklab::stats
