// The time of a training run's gradient buckets on the network alone, from the allreduce times of
// a run of `ranklab comm`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "forecast/network.hpp"
#include "report/frame/sentences.hpp"
#include "report/model/messages.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::model {

/// The element type in which gradients are sent: "fp32", "bf16".
std::string gradient_type(const results::Run& training);
/// Whether a run of comm measured the network as a training step uses it: separate calls, each
/// until the last rank is done, without an injected fault or a straggler.
bool measures_network(const results::Run& comm);
/// Whether the run stored the times of its gradient buckets.
bool has_bucket_times(const results::Run& training);

/// The allreduces with reduction `sum` of `dtype`, measured without load, in `table` ("messages" or
/// "nonblocking"). Calls in place come first, since a step sums in place.
std::vector<Message> allreduces_in(const results::Run& comm, const char* table,
                                   const std::string& dtype);
forecast::AllreduceTime time_of(const Message& one);

struct NetworkCost {
    std::string comm_run = {};
    forecast::AllreduceCurve curve = {};
    std::size_t buckets = 0, outside = 0;  ///< all buckets; those outside the measured sizes
    /// Sums over the buckets within the measured sizes; ends of intervals are summed, too.
    forecast::AllreduceTime network = {0, {0, 0}};
    double step_s = 0;
    std::vector<Caveat> caveats = {};  ///< of the run of comm

    std::string text() const;
};
/// Uses allreduces of the gradients' type among all ranks, and the buckets of --from-model.
NetworkCost network_cost(const results::Run& comm, const results::Run& training);

/// Uses a valid run of comm with as many ranks on the same hosts, machine and backend: the newest
/// one that covers all buckets, else the newest one; nullopt if there is none.
std::optional<NetworkCost> network_cost(const results::ResultFile& file,
                                        const results::Run& training);

}  // namespace ranklab::report::model
