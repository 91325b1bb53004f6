// What the network gives beside what a training step pays: the buckets of a training run on the curve that a
// run of `ranklab comm` measured.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/model/grouped_runs.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::model {

/// Whether its ranks sum gradients, and what each bucket took is stored.
bool pays_network(const results::Run& training, std::size_t ranks);

/// Seconds over bytes, ascending, each size once.
struct NetworkPoint {
    double bytes = 0, time_s = stats::kNone;
    stats::Interval s = {};
};
/// Allreduces of that type by all ranks of the job with nothing beside them, in place where that was measured
/// (a step sums in place), and the buckets of --from-model.
std::vector<NetworkPoint> network_curve(const results::Run& comm, const std::string& dtype);
/// Between two points a straight line of the logarithms; NaN where the curve does not reach: nothing is
/// extrapolated.
double time_on(const std::vector<NetworkPoint>& curve, double bytes);

struct BucketCost {
    std::size_t row = 0;  ///< of the table `communication`
    double bytes = 0;
    double network_s = stats::kNone;  ///< NaN: outside of what was measured
    double step_s = stats::kNone;
};

struct StepNetwork {
    std::string comm_run;
    std::vector<NetworkPoint> curve;
    std::vector<BucketCost> buckets;

    std::size_t outside() const;
    /// Of the buckets inside; NaN where there is none.
    double network_s() const;
    double step_s() const;
};
StepNetwork step_network(const results::Run& comm, const results::Run& training);

/// By a valid run of comm that measured what these gradients meet: allreduce of their type by as many ranks,
/// on the same hosts, by the same backend. The newest one that reaches all buckets, otherwise the newest one;
/// nothing where there is none.
std::optional<StepNetwork> step_network(const results::ResultFile& file, const results::Run& training);
/// The same among the groups' newest runs; `load` gives a run with its tables.
std::optional<StepNetwork> step_network(const GroupedRuns& grouped, const Group& training,
                                        const std::function<results::Run(const std::string& id)>& load);

}  // namespace ranklab::report::model
