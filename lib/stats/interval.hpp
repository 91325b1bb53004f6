// 95 % intervals of medians, of ratios of medians and of a straight line through costs over sizes
// (the cost of a call, plus a cost per unit of size). An interval that does not exist is NaN.
#pragma once

#include <cstddef>
#include <span>

#include "stats/summary.hpp"

namespace ranklab::stats {

/// The median of one series of samples, with an interval that allows for autocorrelation.
struct MedianEstimate {
    double value = kNone;
    Interval ci;              ///< NaN below n = 6
    const char* method = "";  ///< "order statistics", "long-run variance"; "" without an interval
    /// Lag-1 autocorrelation of the normal scores of the samples' ranks, so that neither the shape
    /// of the distribution nor an outlier changes it. NaN below n = 3, and if all samples are equal
    /// or one is NaN.
    double lag1 = kNone;
    /// Effective sample size: n / the inflation of the long-run variance of "is below the median",
    /// which widens the interval. n below 10 samples, which are too few to show dependence.
    double effective_n = kNone;
};
/// Widens the interval of independent samples by the series' dependence, if needed beyond the
/// smallest and largest sample. `samples` are in the order measured.
MedianEstimate estimate_median(std::span<const double> samples);

/// The longer side of the interval divided by the median; NaN without an interval.
double relative_half_width(const MedianEstimate& estimate);

/// Student's t interval of the mean of independent samples; NaN below 2.
Interval mean_interval(std::span<const double> samples);

struct RatioEstimate {
    double ratio = kNone;
    Interval ci;
};

/// Ratio of the medians of paired samples, such as two measurements of one step. The interval is by
/// order statistics of the pairs' ratios, in which a disturbance of both samples cancels out, and
/// is widened to contain the ratio. NaN below 6 pairs and if the sides have different sizes.
RatioEstimate estimate_paired_ratio(std::span<const double> numerator,
                                    std::span<const double> denominator);

/// Ratio of the medians of two sets of runs, one value per run. The interval is Welch's t-test on
/// the logarithms (Biometrika 34, 1947), widened to contain the ratio; NaN below 3 values per side
/// and if a value is not above 0.
RatioEstimate run_ratio(std::span<const double> numerator, std::span<const double> denominator);

struct LinePoint {
    double x = 0, y = 0;  ///< y > 0
};

struct LineFit {
    double alpha = kNone, beta = kNone;
    Interval alpha_ci, beta_ci;  ///< 95 %, Student's; NaN below 3 points
    double worst = kNone;        ///< largest relative residual
    std::size_t n = 0;           ///< points
};
/// Fits y = alpha + beta x by least squares of the relative residuals (alpha + beta x) / y - 1, so
/// that small and large messages weigh the same. Curvature widens the intervals. A coefficient that
/// would be negative is 0, and the other one is fitted alone. NaN without two different x.
LineFit fit_line(std::span<const LinePoint> points);

}  // namespace ranklab::stats
