// Private to this room: how a series hangs together, and the block bootstrap that allows for it (Kuensch 1989;
// circular: Politis & Romano 1992).
#pragma once

#include <span>

#include "stats/interval.hpp"
#include "stats/order.hpp"

namespace ranklab::stats {

/// `dependence` of samples whose median is known; no NaN, n >= 1. The time grows as n: at most 60 lags are
/// looked at.
Dependence dependence_about(std::span<const double> samples, double median);

/// The ranks of an interval of the median of a series that is correlated over about `block_length` samples.
/// No random numbers: see the source. Time grows as n. n >= 6.
IntervalRanks block_bootstrap_ranks(std::span<const double> samples, double median, double block_length,
                                    double level);

}  // namespace ranklab::stats
