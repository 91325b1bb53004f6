// The network's own share of a training step: the buckets of a training run on the curve that a run
// of `ranklab comm` measured.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/frame/frame.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::model {

/// The type in which gradients travel: "fp32", "bf16".
std::string gradient_type(const results::Run& training);
/// Whether a run of comm measured the network as a step uses it: separate calls, until the last
/// rank is done, without deliberate disturbance.
bool measures_network(const results::Run& comm);
/// Whether its ranks sum gradients, and what each bucket took is stored.
bool pays_network(const results::Run& training);

/// Seconds over bytes, ascending, each size once.
struct NetworkPoint {
    double bytes = 0, time_s = stats::kNone;
    stats::Interval s = {};
};

struct BucketCost {
    /// It has no time outside of the measured sizes: nothing is extrapolated.
    NetworkPoint network = {};
    double step_s = stats::kNone;
};

struct NetworkCost {
    std::string comm_run;
    std::vector<NetworkPoint> curve;
    std::vector<BucketCost> buckets;

    std::size_t outside() const;
    /// The sum over the buckets inside; the ends of the intervals are added, too.
    BucketCost sum() const;
    /// One sentence.
    std::string text() const;
};
/// Takes allreduces of the gradients' type by all ranks of the job without other load, in place
/// where that was measured (a step sums in place), and the buckets of --from-model; interpolates
/// between two sizes by a straight line of the logarithms.
NetworkCost network_cost(const results::Run& comm, const results::Run& training);

/// Takes a valid run of comm with these conditions: allreduce of the gradients' type by as many
/// ranks, on the same hosts and machine, by the same backend. The newest one that reaches all
/// buckets wins, otherwise the newest one; nullopt where there is none.
std::optional<NetworkCost> network_cost(const results::ResultFile& file,
                                        const results::Run& training);

/// A row a bucket, and the sum.
Frame frame_of(const NetworkCost& cost);

}  // namespace ranklab::report::model
