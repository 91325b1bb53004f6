// Intervals of medians and of ratios of medians, and the distributions that they need.
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
    /// Lag-1 autocorrelation, of the normal scores of the samples' ranks: the shape of their
    /// distribution does not matter, and a far-out sample cannot hide the others' correlation. NaN
    /// below n = 3, where all samples are equal or one is NaN.
    double lag1 = kNone;
    /// The effective sample size: n over the long-run variance of "above the
    /// median" (flat-top window with Politis's adaptive bandwidth), n where no correlation is
    /// visible.
    double effective_n = kNone;
    double block_length = 0;  ///< for a block bootstrap; 0 where the samples pass as independent
    /// "" where the median has an interval; otherwise the effective n, which is too small for one.
    std::string warning;
};

/// A median with an interval that allows for the dependence of the series.
struct MedianEstimate {
    double value = kNone;
    /// The interval is NaN below n = 6, and below 10 effective samples of a correlated series.
    Interval ci;
    /// The method: "order statistics", "block bootstrap", or "" where there is no interval.
    const char* method = "";
    Dependence dependence;
};
/// Estimates from `samples` in the order measured: by order statistics where they look independent,
/// else by block bootstrap.
MedianEstimate estimate_median(std::span<const double> samples);

/// The longer side of the interval over the median: 1 = 100 %. NaN where there is none.
double relative_half_width(const MedianEstimate& estimate);

/// A ratio of two medians with its 95 % interval.
struct RatioEstimate {
    double ratio = kNone;
    Interval ci;
};

inline constexpr std::size_t kFewestRuns = 5;  ///< a side
/// The ratio of two sets of runs, by bootstrap (percentile; both sides resampled; deterministic).
/// The interval is NaN where a side has fewer than kFewestRuns values.
RatioEstimate estimate_ratio(std::span<const double> numerator,
                             std::span<const double> denominator);

/// The ratio of at least 6 pairs of samples, one of each side a step or round: pairs are drawn, so
/// that a disturbance of both sides of a pair is in both or in none. Both sides have equally many
/// samples.
RatioEstimate estimate_paired_ratio(std::span<const double> numerator,
                                    std::span<const double> denominator);

/// The ratio of two sets of runs, one value per run, by Welch's t-test on the logarithms (Welch,
/// Biometrika 34, 1947), widened where it does not contain the ratio of the medians. Its interval
/// includes variation between runs. The interval is NaN below 3 values per side, or where a value
/// is not above 0.
RatioEstimate run_ratio(std::span<const double> numerator, std::span<const double> denominator);

double normal_cdf(double z);
/// The inverse of normal_cdf; infinite at 0 and 1, NaN outside of them.
double normal_quantile(double p);
/// Quantiles by degrees of freedom, above 0.
double student_quantile(double p, double degrees);
double student_cdf(double t, double degrees);
double chi_square_quantile(double p, double degrees);

/// P(Bin(n, q) = k)
double binomial_probability(std::size_t n, double q, std::size_t k);

/// The largest k such that P(Bin(n, q) < k) <= tail; 0 where there is none but 0.
/// `below` is that probability.
struct BinomialRank {
    std::size_t k = 0;
    double below = 0;
};
BinomialRank binomial_rank(std::size_t n, double q, double tail);

}  // namespace ranklab::stats
