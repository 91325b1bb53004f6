// The block bootstrap of a median (Kuensch 1989; circular: Politis & Romano 1992).
#pragma once

#include <span>

#include "stats/summary.hpp"

namespace ranklab::stats {

/// An interval of the median of a series that is correlated over about `block_length` samples. Deterministic;
/// time and memory are bounded whatever n: long series are resampled in units of n/2000 samples. n >= 6.
Interval block_bootstrap_median(std::span<const double> samples, double block_length, double level);

}  // namespace ranklab::stats
