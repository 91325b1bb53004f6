// --nonblocking: how much of a started operation calibrated compute hides.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/handle.hpp"
#include "comm/operation.hpp"
#include "experiments/collectives/calls.hpp"

namespace ranklab::experiments {

/// Multiplications and additions in the first-level cache, in units of under a microsecond.
class Compute {
  public:
    Compute() { numbers_.fill(0.5F); }
    /// Computes `units` units, and calls `between` some twenty times meanwhile.
    void work(std::int64_t units, const std::function<void()>& between = {});
    /// Units that take about `seconds` on this core now.
    std::int64_t units_of(double seconds);

  private:
    void unit();

    std::array<float, 512> numbers_;
};

/// --with-load: a thread that computes on this rank's cores until its destruction.
class Load {
  public:
    Load();
    /// CPU time of the thread so far.
    double cpu_seconds();

  private:
    std::jthread thread_;
};

/// What drives MPI progress while the rank computes: nothing, polls from the compute loop, or a
/// thread.
enum class MpiProgress { none, poll, thread };

/// Times of each counted call, as OSU's non-blocking benchmarks define them.
struct StartedTimes {
    std::vector<double> pure;              ///< start and wait, nothing between
    std::vector<double> compute;           ///< the compute alone
    std::vector<double> overall;           ///< start, compute, wait
    std::vector<double> init, test, wait;  ///< parts of overall: start, polls, wait
};

/// Times of this rank in seconds. The compute takes as long as the operation alone: the median over
/// calls, of the slowest rank. A barrier precedes each call. Collective.
StartedTimes time_started(const Caller& caller, const Policy& policy, MpiProgress progress,
                          Compute& compute);

/// Maximum over the participating ranks, in us. Other ranks give empty `seconds`. Collective.
StartedTimes longest_us(comm::Communicator& control, StartedTimes seconds, int calls);

}  // namespace ranklab::experiments
