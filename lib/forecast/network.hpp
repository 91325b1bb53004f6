// The time of an allreduce among other numbers of ranks than those that were measured. Pure
// functions; seconds and bytes.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::forecast {

/// How ranks sum, with its time at p ranks in a = latency and b = seconds a byte of one message (R.
/// Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in
/// MPICH", IJHPCA 19, 2005):
///   ring                2 (p - 1) a + 2 (p - 1) / p b S
///   recursive_doubling  ceil(log2 p) (a + b S)
///   tree                2 ceil(log2 p) (a + b S): to one rank and back; libnbc's, in place
/// hierarchical: the ranks of a host, then one of each host: the sum of both. measured: as many
/// ranks as were measured.
enum class Algorithm { measured, ring, recursive_doubling, tree, hierarchical };
const char* name_of(Algorithm algorithm);

struct AllreduceTime {
    double s = stats::kNone;
    stats::Interval range = {};
    Algorithm algorithm = Algorithm::measured;
};

/// Measured times by message size.
using AllreduceCurve = std::map<double, AllreduceTime>;
/// Between two sizes a straight line of the logarithms; below the smallest its time; above the
/// largest the straight line through the last two. `curve` has a size at least.
AllreduceTime time_on(const AllreduceCurve& curve, double bytes);

struct Placement {
    std::size_t ranks = 0, per_host = 0;  ///< the last host may have fewer

    auto operator<=>(const Placement&) const = default;
};

/// One kind of allreduce: blocking, or in the background (MPI_Iallreduce).
struct MeasuredNetwork {
    std::vector<Algorithm> algorithms = {};           ///< that MPI may take
    std::map<Placement, AllreduceCurve> levels = {};  ///< at least two sizes each
};

/// The pieces in which train::ReductionQueue cuts a buffer, in bytes.
inline constexpr double kBlockingPiece = 8 << 20, kBackgroundPiece = 256 << 10;

/// Where that number of ranks was measured, the measured curve. Otherwise, of each of the
/// algorithms, the time at the measured number of ranks times the ratio of its formula at both
/// numbers, with a and b by a line through the messages of about that size; the cheapest is the
/// time, and all are in the range, with the fits' intervals. Several ranks on several hosts that
/// were not measured are hierarchical. NaN where no level says anything, or the message is more
/// than 4 times its largest one.
AllreduceTime allreduce_time(const MeasuredNetwork& network, double bytes,
                             const Placement& placement);

/// A message that travels in pieces, one after another.
AllreduceTime in_pieces(const MeasuredNetwork& network, double bytes, double piece_bytes,
                        const Placement& placement);

}  // namespace ranklab::forecast
