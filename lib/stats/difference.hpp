// Tests whether B differs from A. A sample is one value per run, since the steps of one run are not
// independent.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stats/interval.hpp"

namespace ranklab::stats {

struct RankTest {
    double p = kNone;       ///< NaN if a side is empty
    double effect = kNone;  ///< Cliff's delta: P(b > a) - P(b < a), -1 .. 1
};
/// The two-sided Mann-Whitney U test: exact up to 50 samples, ties included; above that the normal
/// approximation, corrected for ties and continuity (Hollander, Wolfe & Chicken, Nonparametric
/// Statistical Methods, 4.1).
RankTest mann_whitney(std::span<const double> a, std::span<const double> b);

/// Corrects p-values for multiple tests by Holm's step-down method, in the order given. NaN stays
/// NaN and does not count as a test.
std::vector<double> holm(std::span<const double> p);

enum class Better { less, more, neither };
/// other_load is set by callers, if load by other processes differs between the sides.
enum class Verdict { better, worse, same, changed, too_noisy, too_few_runs, other_load };

inline constexpr std::size_t kFewestRuns = 5;  ///< runs that a verdict needs on each side
inline constexpr double kMinEffect = 0.03;     ///< smallest relative change of interest, by default

struct Difference {
    std::size_t n_a = 0, n_b = 0;
    RatioEstimate ratio;  ///< median B / median A, by run_ratio
    RankTest test;
};
/// With `rates`, compares the reciprocals: the median of a rate is 1 / median(1 / rate).
Difference difference(std::span<const double> a, std::span<const double> b, bool rates = false);
/// Summarises one value per run. `rates`: the values are rates.
Summary summarise_runs(std::span<const double> values, bool rates);

/// Returns too_few_runs if a side has fewer than kFewestRuns runs. Returns better, worse, or
/// changed (if no direction is better) if corrected_p < 0.05, the ratio's interval excludes 1, and
/// the ratio is at least min_effect from 1. Returns same if the interval lies within 1 -+
/// min_effect, otherwise too_noisy. `corrected_p` is Holm's over all comparisons; min_effect is
/// relative: 0.05 = 5 %.
Verdict judge(const Difference& difference, double corrected_p, double min_effect, Better better);

/// The fewest runs per side with which judge() can find a difference after Holm's correction over
/// `compared` comparisons; at least kFewestRuns.
std::size_t fewest_runs(std::size_t compared);
/// Runs per side that detect a change of `min_effect` with 80 % power at the two-sided 5 % level,
/// given the pooled spread of these runs and `compared` comparisons. At least
/// fewest_runs(compared); 0 if both sides have fewer than 3 runs, so that the spread is not known.
std::size_t runs_needed(std::span<const double> a, std::span<const double> b, double min_effect,
                        std::size_t compared = 1);

}  // namespace ranklab::stats
