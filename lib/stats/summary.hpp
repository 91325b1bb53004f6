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

/// Distribution-free interval of the median of n independent samples: order statistics x(l), x(u)
/// with the largest l such that P(Bin(n, 1/2) < l) <= (1 - kConfidence) / 2, and u = n + 1 - l
/// (Hahn & Meeker, Statistical Intervals, 5.2). Its coverage is 95 to 98 %. From
/// n = `interpolated_from` on the ends are interpolated towards x(l + 1), x(u - 1) for 95 %
/// (Hettmansperger & Sheather, Statistics & Probability Letters 4, 1986). Returns l, with the
/// fraction of the way to l + 1; 0 below n = 6: no interval.
double median_rank(std::size_t n, std::size_t interpolated_from = 30);
/// The interval from this rank (1 .. (n + 1) / 2, not always whole) to its mirror image in the
/// sorted samples `x`; NaN at rank 0.
Interval interval_at(double rank, std::span<const double> x);

}  // namespace ranklab::stats
