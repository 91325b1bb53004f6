// The cost of an allreduce among other numbers of ranks than those that were measured. Pure
// functions; seconds and bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::forecast {

/// How ranks sum, with its cost at p ranks in a = latency and b = seconds a byte of one message (R.
/// Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in
/// MPICH", IJHPCA 19, 2005):
///   ring                2 (p - 1) a + 2 (p - 1) / p b S
///   recursive_doubling  ceil(log2 p) (a + b S)
///   tree                2 ceil(log2 p) (a + b S): to one rank and back; libnbc's, in place
/// hierarchical: the ranks of a host, then one of each host: the sum of both. measured: as many
/// ranks as were measured.
enum class Algorithm { measured, ring, recursive_doubling, tree, hierarchical };
std::string_view name_of(Algorithm algorithm);

/// The time of an allreduce of a message; the interval is {s, s} where none is known.
struct MessageTime {
    double bytes = 0, s = 0;
    stats::Interval ci = {};
};

struct Placement {
    std::size_t ranks = 0, per_host = 0;  ///< the last host may have fewer

    bool operator==(const Placement&) const = default;
};

/// Allreduces among these ranks, by size: at least two sizes, ascending.
struct MeasuredLevel {
    Placement on = {};
    std::vector<MessageTime> messages = {};
};

struct AllreduceCost {
    /// NaN where no level says anything.
    double s = stats::kNone;
    stats::Interval range = {};  ///< with the fits' intervals, and the choice of algorithm
    Algorithm algorithm = Algorithm::measured;
};

/// The pieces in which train::ReductionQueue cuts a buffer, in bytes.
inline constexpr double kBlockingPiece = 8 << 20, kBackgroundPiece = 256 << 10;

/// Where that number of ranks was measured, the measured curve between its sizes (a straight line
/// of the logarithms; beyond its sizes the straight line through its last two). Otherwise, of each
/// of `algorithms`, the time at the measured number of ranks times the ratio of its formula at both
/// numbers, with a and b by a line through the messages of about that size; the cheapest is the
/// cost, and all are in the range. Several ranks on several hosts that were not measured are
/// hierarchical.
AllreduceCost allreduce_cost(std::span<const MeasuredLevel> levels, double bytes,
                             const Placement& placement, std::span<const Algorithm> algorithms);

/// A message that travels in pieces, one after another; 0: whole.
AllreduceCost in_pieces(std::span<const MeasuredLevel> levels, double bytes, double piece_bytes,
                        const Placement& placement, std::span<const Algorithm> algorithms);

}  // namespace ranklab::forecast
