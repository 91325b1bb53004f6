// A started operation behind calibrated compute: how much of it does the compute hide?
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

/// Computes multiplications and additions of numbers in the first-level cache, in units of under a
/// microsecond.
class Compute {
  public:
    Compute() { numbers_.fill(0.5F); }
    /// Does `units` units; `between` is called some twenty times on the way, where it is given.
    void work(std::int64_t units, const std::function<void()>& between = {});
    /// Units that take about so long on this core now.
    std::int64_t units_of(double seconds);

  private:
    void unit();

    std::array<float, 512> numbers_;
};

/// A thread that computes on this rank's cores while it lives.
class Load {
  public:
    Load();
    /// CPU time of the load so far.
    double cpu_seconds();

  private:
    std::jthread thread_;
};

/// How MPI progresses while the rank computes.
enum class MpiProgress { none, poll, thread };

/// The times of each counted call, as OSU's non-blocking tests take them.
struct StartedTimes {
    std::vector<double> pure;     ///< start and wait, with nothing between
    std::vector<double> compute;  ///< the same compute alone
    std::vector<double> overall;  ///< start, compute, wait
    std::vector<double> init, test, wait;
};

/// Measures this rank's own times, in seconds. Collective. The compute takes as long as the
/// operation alone: its median over calls, the longest over ranks. A barrier precedes each call.
StartedTimes time_started(const Caller& caller, const Policy& policy, MpiProgress help,
                          Compute& compute);

/// In us, the longest over ranks, of which those that have no part bring no times. Collective.
StartedTimes longest_us(comm::Communicator& control, StartedTimes seconds, int calls);

}  // namespace ranklab::experiments
