// A started operation behind calibrated compute: how much of it does the compute hide?
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/handle.hpp"
#include "comm/operation.hpp"
#include "experiments/collectives/calls.hpp"

namespace ranklab::experiments {

/// Multiplications and additions of numbers in a first-level cache, counted in units of under a microsecond.
class Compute {
  public:
    Compute();
    /// Does `units` units; `between` is called some twenty times on the way, where it is given.
    void work(std::int64_t units, const std::function<void()>& between = {});
    /// Units that take about so long on this core now.
    std::int64_t units_of(double seconds);

  private:
    static constexpr int kNumbers = 512;
    void unit();

    float numbers_[kNumbers];
};

/// A thread that computes on this rank's cores while it lives.
class Load : base::Pinned {
  public:
    Load();
    ~Load();
    /// CPU time of the load so far.
    double cpu_seconds();

  private:
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

/// Who lets the library work while the rank computes.
enum class Help { none, poll, thread };

/// This rank's own times of each counted call, in seconds, as OSU's non-blocking tests take them.
struct StartedTimes {
    std::vector<double> pure;     ///< start and wait, with nothing between
    std::vector<double> compute;  ///< the same compute alone
    std::vector<double> overall;  ///< start, compute, wait
    std::vector<double> init, test, wait;
};

/// Whether the operation has a started form that means something.
bool can_start(comm::Operation operation);

/// Collective. The compute is as long as the operation alone takes, its median over calls and its longest
/// over ranks. A barrier stands before each call.
StartedTimes time_started(const Caller& caller, const Policy& policy, Help help, Compute& compute);

}  // namespace ranklab::experiments
