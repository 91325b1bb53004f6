// What a run of `ranklab comm` measured: the time of an operation's call by message size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/step.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {

/// A row of the table `messages`, in us and GB/s; NaN for a missing number. In a row of
/// `nonblocking`, `time` is without compute.
struct Message {
    StoredRow stored;  ///< in the run's table, which must outlive it
    std::string op = {}, level = {}, dtype = {}, redop = {}, place = {}, mark = {};
    std::int64_t ranks = 0, bytes = 0, wrong = -1;
    double time = stats::kNone, busbw = stats::kNone;
    stats::Interval interval = {};

    bool in_place() const { return place == "in-place"; }
};

/// The rows in the order stored; none if the run lacks the table. `table` may be `fits`,
/// `nonblocking` or `buckets`, too, which have some of these columns. Rows of version 0.1.0 that
/// were measured beside a compute kernel are left out.
std::vector<Message> messages_of(const results::Run& run, std::string_view table = "messages");

/// Messages that differ in their size alone, ascending.
using SizeCurve = std::vector<Message>;
/// The curves in the order of their first messages.
std::vector<SizeCurve> size_curves_of(const results::Run& run);

/// The operation and all that is not usual: "allreduce fp32", "allreduce bf16 max, within a host".
std::string full_name(const Message& one);

/// The message that the measurement `time_us` repeats (fact collectives.headline); nullptr if it is
/// not among the messages.
const Message* headline_message(const results::Run& run, const std::vector<Message>& messages);

/// The element type in which gradients are sent: "fp32", "bf16".
std::string gradient_type(const results::Run& training);
/// Whether a run of comm measured the network as a training step uses it: separate calls, each
/// until the last rank is done, without an injected fault or (older runs) a straggler.
bool measures_network(const results::Run& comm);
/// The allreduces with reduction `sum` of `dtype` in `table` ("messages" or "nonblocking"). Calls
/// in place come first, since a step sums in place.
std::vector<Message> allreduces_in(const results::Run& comm, const char* table,
                                   const std::string& dtype);
forecast::AllreduceTime time_of(const Message& one);

}  // namespace ranklab::report::model
