// The time of an allreduce at rank counts that were not measured. Seconds and bytes.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::forecast {

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
/// size; the range spans all algorithms and the fits' intervals. Placements on several hosts that
/// no measurement resembles are hierarchical. NaN if no measured level applies, or the message is
/// more than 4 times the level's largest one.
AllreduceTime allreduce_time(const MeasuredNetwork& network, double bytes,
                             const Placement& placement);

/// The time of a message that is summed in pieces, one after another.
AllreduceTime in_pieces(const MeasuredNetwork& network, double bytes, double piece_bytes,
                        const Placement& placement);

}  // namespace ranklab::forecast
