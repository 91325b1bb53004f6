// Intervals of medians and of ratios of medians.
// Pure functions; where no interval exists it is NaN, with the reason in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "stats/summary.hpp"

namespace ranklab::stats {

/// How much the samples of one series, in the order measured, hang together.
struct Dependence {
    /// Lag-1 autocorrelation, of the normal scores of the samples' ranks: the shape of their distribution
    /// does not matter, and a far-out sample cannot hide the others' correlation. NaN below n = 3, where all
    /// samples are equal or one is NaN.
    double lag1 = kNone;
    /// Independent samples that say as much about the median: n over the long-run variance of "above the
    /// median" (flat-top window with Politis's adaptive bandwidth), n where no correlation is visible.
    double effective_n = kNone;
    double block_length = 0;  ///< for a block bootstrap; 0 where the samples pass as independent
    /// "" where an interval of the median of this series can be trusted; otherwise why not, with the
    /// effective n: too short for its correlation, or too strongly correlated.
    std::string warning;
};
Dependence dependence(std::span<const double> samples);

/// A median with an interval that allows for the dependence of the series.
struct MedianEstimate {
    double value = kNone;
    Interval ci;              ///< NaN below n = 6, and below 10 effective samples of a correlated series
    const char* method = "";  ///< "order statistics", "block bootstrap", or "" where there is no interval
    Dependence dependence;
};
/// `samples` in the order measured. Order statistics where they are independent as far as can be seen, block
/// bootstrap where not.
MedianEstimate estimate_median(std::span<const double> samples, double level = 0.95);

/// Half the interval's width over the median: the longer side, of 1 = 100 %. NaN where there is none.
double relative_half_width(const MedianEstimate& estimate);

/// A ratio of two medians with its bootstrap interval (percentile; both sides resampled; deterministic).
/// The interval is NaN where a side has fewer than `fewest` samples.
struct RatioEstimate {
    double ratio = kNone;
    Interval ci;
};
RatioEstimate estimate_ratio(std::span<const double> numerator, std::span<const double> denominator,
                             double level = 0.95, std::size_t fewest = 6);

/// The same of samples that belong together, one of each side a step or round: pairs are drawn, so that what
/// moved both sides of a pair at once is in both or in none. Both sides have equally many.
RatioEstimate estimate_paired_ratio(std::span<const double> numerator, std::span<const double> denominator,
                                    double level = 0.95);

}  // namespace ranklab::stats
