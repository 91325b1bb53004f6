// How a series hangs together, in numbers: what `dependence` words and the block bootstrap needs.
#pragma once

#include <cstddef>
#include <span>

#include "stats/interval.hpp"

namespace ranklab::stats {

struct Correlation {
    double lag1 = 0;          ///< of the normal scores of the samples' ranks
    bool visible = false;     ///< positive correlation beyond what independent samples show by chance
    double inflation = 1;     ///< long-run variance of "above the median" over that of independent samples
    double block_length = 1;  ///< for a circular block bootstrap of the median
};
/// n >= 3, not all equal, no NaN. Bounded: the time grows as n, at most some 60 lags are looked at.
Correlation correlation(std::span<const double> samples, double median);

/// In words, and what it leaves of n samples.
Dependence dependence_of(const Correlation& found, double n);
/// `dependence` of samples whose median is known; no NaN, n >= 1.
Dependence dependence_about(std::span<const double> samples, double median);

}  // namespace ranklab::stats
