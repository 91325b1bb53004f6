// Properties of a series of samples in the order measured: outliers, warm-up, drift. No sample is
// dropped.
#pragma once

#include <cstddef>
#include <span>

#include "stats/summary.hpp"

namespace ranklab::stats {

/// Tukey's far-out fences: beyond 3 interquartile ranges from the quartiles. Counted, never
/// removed.
struct Outliers {
    std::size_t below = 0, above = 0;
    double low_fence = kNone, high_fence = kNone;
    std::size_t count() const { return below + above; }
};
Outliers outliers(std::span<const double> samples);

/// Where the beginning, which is unlike the rest, ends: samples to leave out, by MSER-5 (White,
/// Simulation 69, 1997), at most half of the series; 0 where that beginning is not clearly off the
/// rest, and for fewer than 20 samples. Samples beyond the far-out fences of the later half count
/// as these. To be reported beside the rule that was fixed before the run, not used in its place.
std::size_t warmup_end(std::span<const double> samples);

}  // namespace ranklab::stats
