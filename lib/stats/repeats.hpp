// Repeated measurements at several points: their scatter, and whether they contradict each other.
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
/// Without the first `skipped` values of each point.
Scatter scatter_of(std::span<const Repeats> points, std::size_t skipped = 0);

/// Whether the first values are larger than the later ones by more than 3 %, and by more than the
/// later ones scatter (confidence 99.9 %), as with too little warm-up.
bool first_are_larger(std::span<const Repeats> points);
/// Whether the values' standard deviation is above 15 % over all points, or one point's range is
/// above both 15 % and 4 times the median point's range.
bool contradict(std::span<const Repeats> points);

}  // namespace ranklab::stats
