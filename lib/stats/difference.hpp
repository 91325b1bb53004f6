// Tests whether B differs from A, on runs with one value each: steps of one run are not
// independent.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stats/interval.hpp"

namespace ranklab::stats {

/// The two-sided Mann-Whitney U test: exact without ties for small sides, otherwise by permutation
/// or the normal approximation with ties and continuity corrected (Hollander, Wolfe & Chicken,
/// Nonparametric Statistical Methods, 4.1).
struct RankTest {
    double p = kNone;       ///< NaN where a side is empty
    double effect = kNone;  ///< Cliff's delta: P(b > a) - P(b < a), -1 .. 1
};
RankTest mann_whitney(std::span<const double> a, std::span<const double> b);

/// Corrects p-values by Holm's step-down method: in the order given, each at most 1. NaN stay NaN
/// and do not count.
std::vector<double> holm(std::span<const double> p);

enum class Better { less, more, neither };
enum class Verdict { better, worse, same, changed, too_noisy, too_few_runs };

struct Difference {
    std::size_t n_a = 0, n_b = 0;
    RatioEstimate ratio;  ///< median B / median A; an interval from kFewestRuns a side on
    RankTest test;
};
Difference difference(std::span<const double> a, std::span<const double> b);

/// Judges by p, corrected over all comparisons, and the smallest relative change of interest (0.05
/// = 5 %): worse or better where p < 0.05 and the ratio's interval lies on that side of 1 and the
/// ratio itself is at least the smallest change away from it (changed where neither is better);
/// same where the interval lies within 1 -+ min_effect; otherwise too noisy.
Verdict judge(const Difference& difference, double corrected_p, double min_effect, Better better);

/// The runs per side that find `min_effect` with 80 % power at 5 % (two-sided, by the pooled spread
/// of these runs); at least kFewestRuns; 0 where the spread is not known (fewer than 3 runs on both
/// sides).
std::size_t runs_needed(std::span<const double> a, std::span<const double> b, double min_effect,
                        std::size_t compared = 1);

}  // namespace ranklab::stats
