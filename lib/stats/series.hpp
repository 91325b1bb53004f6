// Outliers and warm-up of a series of samples, in the order measured. Nothing here drops a sample.
#pragma once

#include <cstddef>
#include <span>

#include "stats/summary.hpp"

namespace ranklab::stats {

/// Samples beyond Tukey's far-out fences, 3 interquartile ranges from the quartiles.
struct Outliers {
    std::size_t below = 0, above = 0;
    double low_fence = kNone, high_fence = kNone;
    std::size_t count() const { return below + above; }
};
Outliers outliers(std::span<const double> samples);

/// Number of warm-up samples by MSER-5 (White, Simulation 69, 1997), at most half of the series. 0
/// below 20 samples, and if the beginning does not clearly differ from the rest. Samples beyond the
/// later half's far-out fences are set to the fences. Only reported: --warmup, fixed before the
/// run, decides what counts.
std::size_t warmup_end(std::span<const double> samples);

}  // namespace ranklab::stats
