// How calls are timed: what stands between them, and how the ranks' times become one.
#pragma once

#include <span>
#include <string>

#include "options/options.hpp"

namespace ranklab::experiments {

/// --blocking, by its numbers.
enum class Between {
    nothing_loop,    ///< the loop is timed as a whole
    barrier_inside,  ///< the time contains it
    nothing,         ///< each call is timed
    barrier,         ///< outside the time
    window           ///< all ranks begin at an agreed moment of a common clock
};

/// Whether a barrier stands before each call.
constexpr bool has_barriers(Between between) {
    return between == Between::barrier || between == Between::barrier_inside;
}

/// --average, by its numbers.
enum class OverRanks { rank_0, mean, shortest, longest };

struct Policy {
    Between between = Between::barrier;
    OverRanks over_ranks = OverRanks::longest;
    int warmup = 5;
    int calls = 50;
    int checks = 1;
};

/// In words, for who reads the numbers.
std::string text_of(Between between);
std::string text_of(OverRanks over_ranks);

/// One call's times, NaN of ranks that have no part in it; NaN where none has. rank_0 is the first that has.
double over_ranks(std::span<const double> of_ranks, OverRanks policy);

}  // namespace ranklab::experiments
