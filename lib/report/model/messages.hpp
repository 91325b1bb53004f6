// The table `messages` of a run of `ranklab comm`: the time of an operation's call, by message
// size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/values.hpp"

namespace ranklab::report::model {

/// A row of the table, in us and GB/s; NaN for a missing number. In a row of `nonblocking`, `time`
/// is without compute.
struct Message {
    StoredRow stored;  ///< in the run's table, which must outlive it
    std::string op = {}, level = {}, load = {}, dtype = {}, redop = {}, place = {}, mark = {};
    std::int64_t ranks = 0, bytes = 0, wrong = -1;
    double time = stats::kNone, busbw = stats::kNone;
    stats::Interval interval = {};

    bool in_place() const { return place == "in-place"; }
};

/// The rows in the order stored; none if the run lacks the table. `table` may be `fits`,
/// `nonblocking` or `buckets`, too, which have some of these columns.
std::vector<Message> messages_of(const results::Run& run, std::string_view table = "messages");

/// Messages that differ in their size alone, ascending.
using SizeCurve = std::vector<Message>;
/// The curves in the order of their first messages.
std::vector<SizeCurve> size_curves_of(const results::Run& run);

/// The operation and all that is not usual: "allreduce fp32", "allreduce bf16 max, within a host,
/// loaded".
std::string full_name(const Message& one);

/// The message that the measurement `time_us` repeats (fact collectives.headline); nullptr if it is
/// not among the messages.
const Message* headline_message(const results::Run& run, const std::vector<Message>& messages);

}  // namespace ranklab::report::model
