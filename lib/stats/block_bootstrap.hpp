// The block bootstrap of a median (Kuensch 1989; circular: Politis & Romano 1992).
#pragma once

#include <cstddef>
#include <span>

#include "stats/order.hpp"

namespace ranklab::stats {

/// The ranks of an interval of the median of a series that is correlated over about `block_length` samples.
/// No random numbers: see the source. Time grows as n. n >= 6.
IntervalRanks block_bootstrap_ranks(std::span<const double> samples, double median, double block_length,
                                    double level);

}  // namespace ranklab::stats
