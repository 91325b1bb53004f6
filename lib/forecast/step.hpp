// One step of data-parallel training, simulated: what each rank computes, when its gradients are
// ready, and the reductions that sum them. Pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace ranklab::forecast {

/// What one rank does in a step, without waiting for others. Seconds; forward and backward are
/// those of one micro-batch.
struct RankWork {
    double input_s = 0, forward_s = 0, backward_s = 0, optimizer_s = 0;
};

/// A gradient, in the order in which backward makes them.
struct Gradient {
    double bytes = 0;
    double ready = 1;  ///< the share of backward that is over when it is there, 0 to 1
};

enum class Sync { none, per_parameter, flat, bucketed };

struct SyncPlan {
    Sync sync = Sync::bucketed;
    double first_cap_bytes = 0, cap_bytes = 0;  ///< of bucketed
    std::size_t accumulate = 1;                 ///< micro-batches a step; the last one's is summed
};

struct Network {
    /// Seconds of the sum of so many bytes over all ranks, from the arrival of the last one.
    std::function<double(double bytes)> allreduce_s;
    /// How much of a transfer's time is taken from backward where they overlap, 0 to 1: 1 where the
    /// cores that compute also move the data.
    double compute_share = 0;
};

struct Reduction {
    double bytes = 0;
    double ready_s = 0, start_s = 0, end_s = 0;  ///< since the step began; ready: on the last rank
};

struct SimulatedStep {
    double step_s = 0;
    double compute_s = 0;  ///< of the slowest rank, without communication
    double exposed_s = 0;  ///< communication after the slowest rank's last backward
    std::vector<Reduction> reductions = {};
};

/// Reductions go one after another in the order of the gradients; each starts when the last rank
/// has its part. `ranks`: at least one.
SimulatedStep simulate_step(std::span<const RankWork> ranks, std::span<const Gradient> gradients,
                            const SyncPlan& plan, const Network& network);

}  // namespace ranklab::forecast
