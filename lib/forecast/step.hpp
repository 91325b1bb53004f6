// Simulates one step of data-parallel training: the computing of the slowest rank, when its
// gradients are ready, and the allreduces that sum them; and the time of an allreduce at rank
// counts that were not measured. Seconds and bytes.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::forecast {

/// The work of one rank in a step, without waiting for other ranks.
struct RankWork {
    double input_s = 0, forward_s = 0, backward_s = 0;  ///< per micro-batch
    double optimizer_s = 0;                             ///< per step
    /// Time of the loader's threads per micro-batch, in parallel to the rest; 0: no threads.
    double loader_s = 0;

    double compute_s(std::size_t micro_batches = 1) const;
};

/// A gradient, or a bucket of gradients.
struct Gradient {
    double bytes = 0;
    double ready = 1;  ///< fraction of backward that is done when the gradient is complete
};

/// Fills buckets as train::plan_buckets does for gradients of one type, in the order of backward: a
/// bucket closes as soon as it reaches its cap, and is ready with its last gradient.
std::vector<Gradient> buckets_of(std::span<const Gradient> gradients, double first_cap_bytes,
                                 double cap_bytes);

/// What ranks that shard their state (ZeRO) send, as shares of an allreduce, which is a
/// reduce_scatter and an allgather. Their optimizers share the update.
struct Sharded {
    int stage = 0;
    double sharing_ranks = 1;

    double in_forward() const { return stage == 0 ? 0 : 0.5; }
    double in_backward() const { return stage == 1 || stage == 2 ? 0.5 : 1; }
    bool each_micro_batch() const { return stage >= 2; }
};

struct SimulatedStep {
    double step_s = 0;
    double compute_s = 0;  ///< without communication
};

/// Simulates a step of the slowest rank, whose work is `work`. The gradients of the last
/// micro-batch are summed by one allreduce after another; allreduce_s(bytes) counts from the
/// arrival of the last rank. An allreduce under way slows computing down by the fraction
/// `compute_share`. Sharded ranks also gather parameters in forward, in the reverse of backward's
/// order (stages 1 and 2 only in the first micro-batch). The step ends when computing, the last
/// allreduce and the loader's threads are done; the optimizer's time is counted at the step's
/// start.
SimulatedStep simulate_step(const RankWork& work, std::size_t micro_batches,
                            std::span<const Gradient> buckets,
                            const std::function<double(double bytes)>& allreduce_s,
                            double compute_share, const Sharded& sharded = {});

/// Expected maximum of `ranks` values drawn from `samples`, by the sum of docs/predict.md. Returns
/// NaN for fewer samples than ranks: so few do not show the maximum.
double expected_maximum(std::span<const double> samples, std::size_t ranks);

/// The algorithm of an allreduce; docs/predict.md has the time of each (R. Thakur, R. Rabenseifner,
/// W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19, 2005).
/// hierarchical: within each host, then between one rank of each host; the sum of both times.
/// measured: this rank count was measured.
enum class Algorithm { measured, ring, recursive_doubling, tree, hierarchical };
const char* name_of(Algorithm algorithm);

struct AllreduceTime {
    double s = stats::kNone;
    stats::Interval range = {};
    Algorithm algorithm = Algorithm::measured;
};

/// Measured times by message size in bytes.
using AllreduceCurve = std::map<double, AllreduceTime>;
/// Interpolates the logarithms of time and size. Below the smallest size it returns that size's
/// time; above the largest it extends the line through the last two. `curve` is not empty.
AllreduceTime time_on(const AllreduceCurve& curve, double bytes);

struct Placement {
    std::size_t ranks = 0, per_host = 0;  ///< the last host may have fewer

    auto operator<=>(const Placement&) const = default;
};

/// Measured times of one kind of allreduce: blocking, or in the background (MPI_Iallreduce).
struct MeasuredNetwork {
    std::vector<Algorithm> algorithms = {};           ///< those that MPI may use
    std::map<Placement, AllreduceCurve> levels = {};  ///< at least two sizes each
};

/// Bytes of the pieces in which train::ReductionQueue sums a buffer.
inline constexpr double kBlockingPiece = 8 << 20, kBackgroundPiece = 256 << 10;

/// Returns the measured time if this rank count was measured. Otherwise scales the time at the
/// nearest measured rank count by the cheapest algorithm's formula, fitted to messages of similar
/// size; the range spans all algorithms and the fits' intervals. On several hosts without a level
/// of equal ranks per host, the algorithm is hierarchical. NaN if no measured level applies, or the
/// message is more than 4 times the level's largest one.
AllreduceTime allreduce_time(const MeasuredNetwork& network, double bytes,
                             const Placement& placement);

/// The time of a message that is summed in pieces, one after another.
AllreduceTime in_pieces(const MeasuredNetwork& network, double bytes, double piece_bytes,
                        const Placement& placement);

}  // namespace ranklab::forecast
