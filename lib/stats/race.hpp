// Which of several points costs least, tested after every round of repeats.
#pragma once

#include "stats/repeats.hpp"

namespace ranklab::stats {

struct Standing {
    std::vector<std::size_t> left = {};  ///< points that may be the best, the cheapest first
    bool decided = false;                ///< at most one, or all within min_effect of the first
};
/// Value r of a point is its cost in round r; points below 2 values take no part. The first point
/// is the cheapest of those with most values. Others are out if they cost more over the rounds of
/// both: one-sided t-test of the logarithms, pooled variance, Bonferroni over the points. Round n
/// tests at 0.5 / (n (n - 1)) of 5 %, the `last` test at 0.5 of it, which also drops points that
/// are not cheaper by min_effect. So in at most 5 % of races the first of a decided one costs more
/// than the best by min_effect.
Standing standing_of(std::span<const Repeats> costs, double min_effect, bool last = false);

}  // namespace ranklab::stats
