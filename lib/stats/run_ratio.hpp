// The ratio of two sets of runs, one value a run: what differs from run to run is in its interval.
#pragma once

#include <cstddef>
#include <span>

#include "stats/interval.hpp"

namespace ranklab::stats {

/// Fewer runs a side have no interval.
inline constexpr std::size_t kFewestForRunRatio = 3;

/// median(numerator) / median(denominator) with a 95 % interval by Welch's t-test on the logarithms (Welch,
/// Biometrika 34, 1947), widened where it does not hold the ratio of the medians. The interval is NaN below
/// kFewestForRunRatio values a side, or where a value is not above 0.
RatioEstimate run_ratio(std::span<const double> numerator, std::span<const double> denominator);

}  // namespace ranklab::stats
