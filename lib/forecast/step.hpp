// One step of data-parallel training, simulated: what each rank computes, when its gradients are
// ready, and the reductions that sum them. Pure functions; seconds and bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace ranklab::forecast {

/// The work of one rank in a step, without waiting for others. Input, forward and backward are
/// those of one micro-batch.
struct RankWork {
    double input_s = 0, forward_s = 0, backward_s = 0, optimizer_s = 0;
    /// The time of the loader's threads for a micro-batch, beside all that; 0: no such threads.
    double loader_s = 0;
};

/// A gradient, in the order in which backward makes them.
struct Gradient {
    double bytes = 0;
    double ready = 1;  ///< the share of backward that is over when it is there, 0 to 1
};

enum class Sync { none, per_parameter, flat, bucketed };

struct SyncPlan {
    Sync sync = Sync::bucketed;
    double first_cap_bytes = 0, cap_bytes = 0;  ///< bucketed alone
    std::size_t accumulate = 1;                 ///< micro-batches a step; the last one's is summed
    /// Buckets are summed while backward goes on; otherwise all after it.
    bool overlaps = true;
};

struct Network {
    /// Seconds of the sum of so many bytes over all ranks, from the arrival of the last one.
    std::function<double(double bytes)> allreduce_s;
    /// The share of the compute that is lost while a sum is under way, 0 to 1: 1 where the cores
    /// that compute also move the data.
    double compute_share = 0;
};

struct Reduction {
    double bytes = 0;
    double ready_s = 0, start_s = 0, end_s = 0;  ///< since the step began; ready: on the last rank
};

struct SimulatedStep {
    double step_s = 0;
    double compute_s = 0;  ///< the slowest rank's, without communication
    double exposed_s = 0;  ///< step_s - compute_s
    std::vector<Reduction> reductions = {};
};

/// Buckets as train::plan_buckets makes them, for gradients of one type: one closes as soon as it
/// holds its cap or more. A bucket is ready when its last gradient is.
std::vector<Gradient> buckets_of(std::span<const Gradient> gradients, const SyncPlan& plan);

/// Reductions go one after another in the order of the gradients; each starts when the last rank
/// has its part. A step begins when the last one's sums are there, so with the optimizer. `ranks`:
/// at least one, and one is enough where it is the slowest in all.
SimulatedStep simulate_step(std::span<const RankWork> ranks, std::span<const Gradient> gradients,
                            const SyncPlan& plan, const Network& network);

/// The mean of the longest of `ranks` values, each drawn from `samples` (N of them, sorted x):
/// sum over i of x(i) [(i/N)^ranks - ((i-1)/N)^ranks]. NaN where there are fewer samples than
/// ranks: the longest of so many was hardly seen.
double expected_maximum(std::span<const double> samples, std::size_t ranks);

}  // namespace ranklab::forecast
