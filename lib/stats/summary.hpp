// Summaries of samples. Pure functions; an empty input gives n = 0 and NaN, never a made-up number.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace ranklab::stats {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Interval {
    double low = kNone;
    double high = kNone;
};

/// What a row of `measurements` holds. Same unit as the samples.
struct Summary {
    std::size_t n = 0;
    double median = kNone;
    double mean = kNone;  ///< costs: arithmetic; rates: sum of counts / sum of costs (summarise_rate)
    double min = kNone;
    double max = kNone;
    double p95 = kNone;
    double p99 = kNone;
    Interval ci95;  ///< of the median, by order statistics; NaN below n = 6, where none exists
};

/// The q-quantile (0 <= q <= 1) of unsorted samples, linear between order statistics: Hyndman & Fan's
/// type 7, NumPy's default. NaN for no samples.
double quantile(std::span<const double> samples, double q);

/// The distribution-free interval of the median of independent samples: order statistics x(l), x(u) with the
/// largest l such that P(Bin(n, 1/2) < l) <= (1 - level)/2 and u = n + 1 - l (Hahn & Meeker, Statistical
/// Intervals, 5.2). It covers at least as often as `level`: up to 98 % for 95 %. From n = 30 on its ends are
/// interpolated towards x(l + 1), x(u - 1) so that it covers as often as it says (Hettmansperger & Sheather,
/// Statistics & Probability Letters 4, 1986). NaN where no such l >= 1 exists (n < 6 at 95 %).
Interval median_interval(std::span<const double> samples, double level = 0.95);

Summary summarise(std::span<const double> samples);

/// Rates counts[i]/costs[i]; the mean is sum(counts)/sum(costs), since rates are not averaged.
/// counts and costs have equal length; costs > 0.
Summary summarise_rate(std::span<const double> counts, std::span<const double> costs);

/// The mean of those that are finite; NaN where none is.
double mean_of_finite(std::span<const double> values);

/// Load imbalance max/mean - 1 of one cost per rank; 0 for one rank or when the mean is 0.
double load_imbalance(std::span<const double> cost_per_rank);

}  // namespace ranklab::stats
