// The timed loop.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/operation.hpp"
#include "options/options.hpp"

namespace ranklab::experiments {

/// --blocking, by its numbers.
enum class CallSync {
    nothing_loop,    ///< the loop is timed as a whole
    barrier_inside,  ///< the time contains it
    nothing,         ///< each call is timed
    barrier,         ///< outside the time
    window           ///< all ranks begin at an agreed moment of a common clock
};

/// Whether ranks that are alike come to each call together.
constexpr bool begins_together(CallSync between) {
    return between != CallSync::nothing_loop && between != CallSync::nothing;
}

/// --average, by its numbers.
enum class RankReduction { rank_0, mean, shortest, longest };

struct Policy {
    CallSync between = CallSync::barrier;
    RankReduction over_ranks = RankReduction::longest;
    int warmup = 5;
    int calls = 50;
    int checks = 1;
};

std::string text_of(CallSync between);

/// Combines one call's times, which are NaN for ranks without a part in it; NaN where no rank has
/// one. rank_0 takes the first rank that has.
double over_ranks(std::span<const double> of_ranks, RankReduction policy);

/// Combines the ranks' times of each call, in us, for one message where a call has several. Between
/// two ranks only the first one times the whole way there and back. Collective.
std::vector<double> us_over_ranks(comm::Communicator& control, std::span<const double> seconds,
                                  comm::Operation operation, RankReduction policy);

/// --fault: what is done on purpose, to see that it is found.
struct Fault {
    int flips_on_rank = -1;   ///< a bit of its results
    int sleeps_on_rank = -1;  ///< before each call
    double sleep_s = 0;
};
Fault parse_fault(const std::string& text);

/// This rank's own times.
struct CallTimes {
    /// One value per counted call; Between::nothing_loop has only one: the loop's time per call.
    std::vector<double> seconds;
    std::vector<double> came_s;  ///< when this rank came to each of them, by its clock
    double wall_s = 0;           ///< of the whole loop
    /// With Between::window: calls that this rank began after the agreed moment.
    int late_begins = 0;
    /// Those of a later loop come behind these.
    void add(const CallTimes& later);
};

/// The parts that calls need; all outlive it.
struct Caller {
    comm::Communicator& data;
    comm::Communicator& control;                             ///< of the same ranks
    std::span<const std::unique_ptr<comm::Prepared>> calls;  ///< taken in turn
    /// This rank's clock minus the common one.
    double clock_offset_s = 0;
    /// With Between::window: the time until all ranks know the agreed moment.
    double ahead_s = 0;
    double clock_error_s = 0;
    double sleep_s = 0;  ///< before each call: a fault
};

/// Makes `calls` calls, all of which are counted. Collective over the ranks of `data`, including
/// those without a part in the operation.
CallTimes time_calls(const Caller& caller, CallSync between, int calls);

}  // namespace ranklab::experiments
