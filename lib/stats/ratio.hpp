// The bootstrap of a ratio of two medians, with the fewest samples a side as the caller's choice.
#pragma once

#include <cstddef>
#include <span>

#include "stats/interval.hpp"

namespace ranklab::stats {

RatioEstimate bootstrap_ratio(std::span<const double> numerator, std::span<const double> denominator,
                              double level, std::size_t fewest);

}  // namespace ranklab::stats
