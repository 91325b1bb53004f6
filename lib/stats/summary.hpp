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
    Interval ci95;  ///< of the median, by order statistics (stats/order.hpp); NaN below n = 6
};

/// The q-quantile (0 <= q <= 1) of unsorted samples, linear between order statistics: Hyndman & Fan's
/// type 7, NumPy's default. NaN for no samples.
double quantile(std::span<const double> samples, double q);

Summary summarise(std::span<const double> samples);

/// Of the rates counts[i]/costs[i], by their costs: the median is 1 over the median cost of one, so that rate
/// and time are one number said twice; the mean is sum(counts)/sum(costs), since rates are not averaged.
/// counts and costs have equal length; costs > 0.
Summary summarise_rate(std::span<const double> counts, std::span<const double> costs);

/// The mean of those that are finite; NaN where none is.
double mean_of_finite(std::span<const double> values);

/// Load imbalance max/mean - 1 of one cost per rank; 0 for one rank or when the mean is 0.
double load_imbalance(std::span<const double> cost_per_rank);

}  // namespace ranklab::stats
