// The network's own share of a training step: the buckets of a training run on the curve that a run
// of `ranklab comm` measured.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "forecast/network.hpp"
#include "report/model/messages.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::model {

/// The type in which gradients travel: "fp32", "bf16".
std::string gradient_type(const results::Run& training);
/// Whether a run of comm measured the network as a step uses it: separate calls, until the last
/// rank is done, without deliberate disturbance.
bool measures_network(const results::Run& comm);
/// Whether its ranks sum gradients, and what each bucket took is stored.
bool has_bucket_times(const results::Run& training);

/// The allreduces of that type without other load in a table of `comm`, `messages` or
/// `nonblocking`: calls in place (a step sums in place) before others.
std::vector<Message> allreduces_in(const results::Run& comm, const char* table,
                                   const std::string& dtype);
forecast::AllreduceTime time_of(const Message& one);

struct BucketCost {
    double bytes = 0;
    /// It has no time outside of the measured sizes: nothing is extrapolated.
    forecast::AllreduceTime network = {};
    double step_s = stats::kNone;
};

struct NetworkCost {
    std::string comm_run = {};
    forecast::AllreduceCurve curve = {};
    std::vector<BucketCost> buckets = {};
    std::size_t outside = 0;
    /// Sums over the buckets inside; the ends of the intervals are added, too.
    forecast::AllreduceTime network = {0, {0, 0}};
    double step_s = 0;

    /// One sentence.
    std::string text() const;
};
/// Takes allreduces of the gradients' type by all ranks of the job, and the buckets of
/// --from-model.
NetworkCost network_cost(const results::Run& comm, const results::Run& training);

/// Takes a valid run of comm by as many ranks, on the same hosts and machine, by the same backend.
/// The newest one that reaches all buckets wins, otherwise the newest one; nullopt where there is
/// none.
std::optional<NetworkCost> network_cost(const results::ResultFile& file,
                                        const results::Run& training);

}  // namespace ranklab::report::model
