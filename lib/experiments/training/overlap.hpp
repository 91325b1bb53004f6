// The overlap of communication and backward: an estimate with its interval, or the reason why there
// is none. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::experiments {

/// One row per pair of steps, with communication and without it. Seconds; maxima over ranks.
struct OverlapPairs {
    std::vector<double> with, without;                    ///< whole steps
    std::vector<double> backward_with, backward_without;  ///< their backward phases
    /// From the stamps of the steps with communication; empty if the host sees none (on a GPU).
    std::vector<double> total, inside_backward;
};

struct OverlapEstimate {
    std::vector<double> exposed, backward_longer;  ///< one row per pair
    double hidden = stats::kNone;                  ///< s of communication that cost no time
    double overlap = stats::kNone;                 ///< NaN if there is a `why_none`
    stats::Interval ci;
    double balance = stats::kNone;
    std::string why_none;  ///< why these pairs give no overlap
};

/// Estimates by the formulae of docs/overlap.md. Gives an overlap only if there are enough pairs,
/// stamps and step times agree, the value lies within 0 and 1, and its interval does not exceed
/// both.
OverlapEstimate estimate_overlap(const OverlapPairs& pairs);

}  // namespace ranklab::experiments
