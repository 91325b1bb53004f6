// Properties of a series of samples in the order measured: outliers, warm-up, drift. No sample is
// dropped.
#pragma once

#include <cstddef>
#include <span>

#include "stats/summary.hpp"

namespace ranklab::stats {

/// Tukey's far-out fences: beyond 3 interquartile ranges from the quartiles. They are counted,
/// never removed.
struct Outliers {
    std::size_t below = 0, above = 0;
    double low_fence = kNone, high_fence = kNone;
    std::size_t count() const { return below + above; }
};
Outliers outliers(std::span<const double> samples);

/// The warm-up's end, as the samples to leave out, by MSER-5 (White, Simulation 69, 1997), at most
/// half of the series; 0 where the beginning is not clearly unlike the rest, and for fewer than 20
/// samples. Samples beyond the later half's far-out fences count as the fences. It is reported with
/// the rule that was fixed before the run, and does not replace it.
std::size_t warmup_end(std::span<const double> samples);

}  // namespace ranklab::stats
