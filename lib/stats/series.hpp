// What a series of samples, in the order measured, has to tell beside its median. Nothing is dropped.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stats/interval.hpp"
#include "stats/summary.hpp"

namespace ranklab::stats {

/// Tukey's far-out fences: beyond 3 interquartile ranges from the quartiles. Counted, never removed.
struct Outliers {
    std::size_t below = 0, above = 0;
    double low_fence = kNone, high_fence = kNone;
    std::size_t count() const { return below + above; }
};
Outliers outliers(std::span<const double> samples);

/// Of fewer samples nobody can tell where a beginning ends.
inline constexpr std::size_t kFewestForWarmup = 20;
/// Where the beginning, which is unlike the rest, ends: samples to leave out, by MSER-5 (White, Simulation
/// 69, 1997), at most half of the series; 0 where that beginning is not clearly off the rest, and for fewer
/// than kFewestForWarmup samples. Samples beyond the far-out fences of the later half count as these. To be
/// reported beside the rule that was fixed before the run, not used in its place.
std::size_t warmup_end(std::span<const double> samples);

/// Order statistics of a series that is too long to hold: a source that can be read again from its beginning.
/// `visit` calls its argument with consecutive pieces. Exact, in bounded memory, by a few passes.
class Source {
  public:
    virtual ~Source() = default;
    virtual void visit(void (*take)(void* state, std::span<const double> piece), void* state) const = 0;
};
/// x(ranks[i]), ranks from 1 to n, ascending. NaN samples: all NaN.
std::vector<double> order_statistics(const Source& source, std::span<const std::size_t> ranks);
/// As summarise(samples), of a source; the same values to the bit but for the mean, which may differ in
/// rounding.
Summary summarise(const Source& source);
/// As estimate_median(samples). From 262,144 samples on, which are not held: the samples below the median are
/// counted in 2,000 stretches, whose variance (and correlation) is that of the blocks of a block bootstrap;
/// lag1 is then sin(pi/2 r) of the lag-1 autocorrelation r of "below the median", as it is for normal
/// samples.
MedianEstimate estimate_median(const Source& source, double level = 0.95);
/// As outliers(samples).
Outliers outliers(const Source& source);

}  // namespace ranklab::stats
