// A started operation behind calibrated compute: how much of it does the compute hide?
#pragma once

#include <vector>

#include "comm/operation.hpp"
#include "experiments/collectives/calls.hpp"
#include "experiments/collectives/compute.hpp"
#include "experiments/collectives/policy.hpp"

namespace ranklab::experiments {

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
