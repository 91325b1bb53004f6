// The bootstrap of a ratio of two medians, with the fewest samples a side as the caller's choice.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "stats/interval.hpp"

namespace ranklab::stats {

/// How many independent samples say as much as each side's (Dependence::effective_n).
struct EffectiveSizes {
    double numerator = std::numeric_limits<double>::infinity();
    double denominator = std::numeric_limits<double>::infinity();
};

RatioEstimate bootstrap_ratio(std::span<const double> numerator, std::span<const double> denominator,
                              double level, std::size_t fewest, const EffectiveSizes& sizes = {});

}  // namespace ranklab::stats
