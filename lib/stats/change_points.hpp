// Steps in a series of one value per run, in the order of time (docs/watch.md).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ranklab::stats {

inline constexpr double kMinStep = 0.02;  ///< smallest relative step, by default

struct Changes {
    std::vector<std::size_t> steps;   ///< index of the first value of each segment but the first
    std::vector<std::size_t> spikes;  ///< one value, or two in a row, far from their neighbours
    bool two_levels = false;          ///< the newest segment alternates between two levels
    bool drifts = false;              ///< a line explains the newest segment better than a step
};
/// Finds the steps of positive values by E-divisive (Matteson & James, Journal of the American
/// Statistical Association 109, 2014) on logarithms: value after value is added to a window of at
/// most 200, which begins at the last step. The next five values may move a step; none undoes it.
/// A step changes the mean by at least min_effect, passes a t test corrected for all places in the
/// window, explains the window better than a line does, and passes a seeded permutation test. Three
/// values make a step; spikes count as the median of their neighbours. No steps if a value is not
/// positive.
Changes change_points(std::span<const double> series, double min_effect = kMinStep);

}  // namespace ranklab::stats
