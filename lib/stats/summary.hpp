// Summaries of samples, and their order statistics. Pure functions; an empty input gives n = 0 and
// NaN, never a made-up number.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace ranklab::stats {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// The coverage of every interval of this room.
inline constexpr double kConfidence = 0.95;

struct Interval {
    double low = kNone;
    double high = kNone;
};

/// A row of `measurements`. Same unit as the samples.
struct Summary {
    std::size_t n = 0;
    double median = kNone;
    /// For costs the arithmetic mean; for rates the sum of counts / sum of costs (summarise_rate).
    double mean = kNone;
    double min = kNone;
    double max = kNone;
    double p95 = kNone;
    double p99 = kNone;
    Interval ci95;  ///< of the median, by order statistics (median_ranks); NaN below n = 6
};

/// The q-quantile (0 <= q <= 1) of unsorted samples, linear between order statistics: Hyndman &
/// Fan's type 7, NumPy's default. NaN for no samples.
double quantile(std::span<const double> samples, double q);

Summary summarise(std::span<const double> samples);

/// Summarises the rates counts[i]/costs[i] by their costs: the median is 1 over the median cost of
/// one, so that rate and time agree; the mean is sum(counts)/sum(costs), since rates are not
/// averaged. counts and costs have equal length; costs > 0.
Summary summarise_rate(std::span<const double> counts, std::span<const double> costs);

/// The mean of those that are finite; NaN where none is.
double mean_of_finite(std::span<const double> values);

/// Load imbalance max/mean - 1 of one cost per rank; 0 for one rank or when the mean is 0.
double load_imbalance(std::span<const double> cost_per_rank);

/// Sorts the samples; nullopt where one is NaN: it has no place in an order, and order statistics
/// would mean nothing.
std::optional<std::vector<double>> sorted(std::span<const double> samples);

/// `x` is sorted and has at least one value.
double quantile_of_sorted(std::span<const double> x, double q);

/// The ranks (from 1) of an interval: its ends lie `weight` of the way from x(low) to x(low + 1),
/// and from x(high) to x(high - 1). low = 0: there is none.
struct IntervalRanks {
    std::size_t low = 0, high = 0;
    double weight = 0;
};
/// The distribution-free interval of the median of n independent samples: order statistics x(l),
/// x(u) with the largest l such that P(Bin(n, 1/2) < l) <= (1 - kConfidence)/2 and u = n + 1 - l
/// (Hahn & Meeker, Statistical Intervals, 5.2). It covers at least as often as it says, up to 98 %.
/// From n = 30 on its ends are interpolated towards x(l + 1), x(u - 1) so that it covers as often
/// as it says (Hettmansperger & Sheather, Statistics & Probability Letters 4, 1986). low = 0 where
/// no such l >= 1 exists (n < 6).
IntervalRanks median_ranks(std::size_t n);
/// NaN where `ranks` has none. `x` is sorted.
Interval interval_at(const IntervalRanks& ranks, std::span<const double> x);

}  // namespace ranklab::stats
