// Summaries and order statistics of samples. An empty input gives n = 0 and NaN.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace ranklab::stats {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// The coverage of every interval of lib/stats.
inline constexpr double kConfidence = 0.95;

struct Interval {
    double low = kNone;
    double high = kNone;
};

/// In the unit of the samples.
struct Summary {
    std::size_t n = 0;
    double median = kNone;
    /// Costs: the arithmetic mean. Rates: sum of counts / sum of costs (summarise_rate).
    double mean = kNone;
    double min = kNone;
    double max = kNone;
    double p95 = kNone;
    double p99 = kNone;
    Interval ci95;  ///< of the median, by order statistics; NaN below n = 6
};

/// The q-quantile (0 <= q <= 1) of unsorted samples, linear between order statistics (Hyndman &
/// Fan's type 7, NumPy's default). NaN without samples and if one is NaN.
double quantile(std::span<const double> samples, double q);

Summary summarise(std::span<const double> samples);

/// Summarises the rates counts[i] / costs[i], costs > 0, of equally many counts and costs. The
/// median is 1 / median(cost of one), so that rate and time agree; the mean is sum(counts) /
/// sum(costs).
Summary summarise_rate(std::span<const double> counts, std::span<const double> costs);

/// The mean of the finite values; NaN without any.
double mean_of_finite(std::span<const double> values);

/// Load imbalance max / mean - 1 of one cost per rank; 0 for one rank and for a mean of 0.
double load_imbalance(std::span<const double> cost_per_rank);

/// Returns the samples sorted; nullopt if one is NaN, which has no place in an order.
std::optional<std::vector<double>> sorted(std::span<const double> samples);

/// `x` is sorted and has at least one value.
double quantile_of_sorted(std::span<const double> x, double q);

/// An interval as ranks (from 1) of sorted samples. Its ends lie the fraction `weight` of the way
/// from x(low) to x(low + 1), and from x(high) to x(high - 1). low = 0: no interval.
struct IntervalRanks {
    std::size_t low = 0, high = 0;
    double weight = 0;
};
/// Distribution-free interval of the median of n independent samples: order statistics x(l), x(u)
/// with the largest l such that P(Bin(n, 1/2) < l) <= (1 - kConfidence) / 2, and u = n + 1 - l
/// (Hahn & Meeker, Statistical Intervals, 5.2). Its coverage is 95 to 98 %. From n = 30 on the ends
/// are interpolated towards x(l + 1), x(u - 1) for 95 % (Hettmansperger & Sheather, Statistics &
/// Probability Letters 4, 1986). No interval below n = 6.
IntervalRanks median_ranks(std::size_t n);
/// The interval's ends in the sorted samples `x`; NaN without an interval.
Interval interval_at(const IntervalRanks& ranks, std::span<const double> x);

}  // namespace ranklab::stats
