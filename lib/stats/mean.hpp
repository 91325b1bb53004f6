// Means of columns in which not every row has a number.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "stats/summary.hpp"

namespace ranklab::stats {

/// Of those that are finite; NaN where none is.
inline double mean_of_finite(std::span<const double> values) {
    double sum = 0;
    std::size_t count = 0;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        sum += value;
        ++count;
    }
    return count == 0 ? kNone : sum / static_cast<double>(count);
}

}  // namespace ranklab::stats
