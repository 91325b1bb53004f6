// One step of data-parallel training, simulated: what the slowest rank computes, when its gradients
// are ready, and the allreduces that sum them. Pure functions; seconds and bytes.
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

    double compute_s(std::size_t micro_batches = 1) const;
};

/// A gradient, in the order in which backward makes them, or a bucket of them.
struct Gradient {
    double bytes = 0;
    double ready = 1;  ///< the share of backward that is over when it is there, 0 to 1
};

/// Buckets as train::plan_buckets makes them, for gradients of one type: one closes as soon as it
/// holds its cap or more. A bucket is ready when its last gradient is.
std::vector<Gradient> buckets_of(std::span<const Gradient> gradients, double first_cap_bytes,
                                 double cap_bytes);

struct SimulatedStep {
    double step_s = 0;
    double compute_s = 0;  ///< without communication
};

/// The work of the rank that is the slowest in all; the gradients of the last of `micro_batches`
/// are summed. Allreduces go one after another; allreduce_s(bytes) is the time of one from the
/// arrival of the last rank. While one is under way, `compute_share` of the compute is lost, 0 to
/// 1. The step ends when the last one's sums are there; the optimizer is counted at its start.
SimulatedStep simulate_step(const RankWork& work, std::size_t micro_batches,
                            std::span<const Gradient> buckets,
                            const std::function<double(double bytes)>& allreduce_s,
                            double compute_share);

/// The mean of the longest of `ranks` values, each drawn from `samples` (N of them, sorted x):
/// sum over i of x(i) [(i/N)^ranks - ((i-1)/N)^ranks]. NaN where there are fewer samples than
/// ranks: the longest of so many was hardly seen.
double expected_maximum(std::span<const double> samples, std::size_t ranks);

}  // namespace ranklab::forecast
