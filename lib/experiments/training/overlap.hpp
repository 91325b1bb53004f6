// The hidden part of the communication: an estimate with its interval, or the reason why there is
// none. Pure functions on plain numbers: they can be tested on made-up pairs.
#pragma once

#include <string>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::experiments {

/// A row a pair of steps, with communication and without; times are those of all ranks together.
struct OverlapPairs {
    std::vector<double> with, without;                    ///< whole steps
    std::vector<double> backward_with, backward_without;  ///< their backward phases
    /// From the stamps of the steps with communication; empty where the host sees none.
    std::vector<double> total, inside_backward;
};

struct OverlapEstimate {
    std::vector<double> exposed, backward_longer;  ///< a row a pair
    double hidden = stats::kNone;                  ///< seconds that moved at no cost
    double overlap = stats::kNone;                 ///< NaN where `why_none` is not empty
    stats::Interval ci;
    double balance = stats::kNone;
    std::string why_none;  ///< a clause: why these pairs give no overlap
};

/// Estimates by the formulae of docs/overlap.md. It gives an overlap only where enough pairs were
/// timed, stamps and steps' times agree, and the value and at least a part of its interval lie
/// within 0 and 1.
OverlapEstimate estimate_overlap(const OverlapPairs& pairs);

}  // namespace ranklab::experiments
