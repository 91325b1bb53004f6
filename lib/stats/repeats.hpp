// Repeated measurements at several points: their scatter, whether they contradict each other, and
// which point costs least.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ranklab::stats {

/// Values above 0 of one point, in the order measured.
using Repeats = std::vector<double>;

double log_mean(std::span<const double> values);
/// Sum of the squared deviations of the logarithms from their mean.
double log_squares(std::span<const double> values);

/// Variance of one value's logarithm, pooled over the points, and its degrees of freedom.
struct Scatter {
    double variance = 0, freedom = 0;
};
/// Leaves out the first `skipped` values of each point.
Scatter scatter_of(std::span<const Repeats> points, std::size_t skipped = 0);

/// Whether the first values are larger than the later ones by more than 3 %, and by more than the
/// later ones scatter (confidence 99.9 %), as with too little warm-up.
bool first_are_larger(std::span<const Repeats> points);
/// Whether the values' standard deviation is above 15 % over all points, or one point's range is
/// above both 15 % and 4 times the median point's range.
bool contradict(std::span<const Repeats> points);

struct Standing {
    std::vector<std::size_t> left = {};  ///< points that may be the best, the cheapest first
    bool decided = false;  ///< one point is left, or all are within min_effect of the first
};
/// Value r of a point is its cost in round r; points below 2 values take no part. The first point
/// is the cheapest of those with most values. Others are out if they cost more over the rounds of
/// both: one-sided t-test of the logarithms, pooled variance, Bonferroni over the points. Round n
/// tests at 0.5 / (n (n - 1)) of 5 %. The `last` test is at 0.5 of 5 % and also drops points that
/// are not cheaper by min_effect. So in at most 5 % of races the first point of a decided race
/// costs more than the best point by min_effect.
Standing standing_of(std::span<const Repeats> costs, double min_effect, bool last = false);

}  // namespace ranklab::stats
