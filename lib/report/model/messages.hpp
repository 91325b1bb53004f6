// The table `messages` of a run of `ranklab comm`: the time of an operation's call, by message
// size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/run.hpp"
#include "stats/summary.hpp"

namespace ranklab::report::model {

/// A row of it, in microseconds and GB/s. NaN where there is no number. The time of a row of
/// `nonblocking` is that without compute.
struct Message {
    std::size_t row = 0;
    std::string op, level, load, dtype, redop, place, mark;
    std::int64_t root = -1, ranks = 0, bytes = 0, elements = 0, wrong = -1;
    double time = stats::kNone, min = stats::kNone, max = stats::kNone, p99 = stats::kNone,
           cv_percent = stats::kNone, algbw = stats::kNone, busbw = stats::kNone;
    stats::Interval interval = {};

    bool in_place() const { return place == "in-place"; }
};

bool is_comm(const results::Run& run);
/// In the order stored; none where the run has no such table.
std::vector<Message> messages_of(const results::Run& run, std::string_view table = "messages");
/// The rows of a table that identifies rows by the same columns (`fits`, `nonblocking`), as far as
/// it has them.
std::vector<Message> messages_in(const results::Table& table);

/// Messages that differ in their size alone, ascending.
using SizeCurve = std::vector<Message>;
/// In the order in which each was met first.
std::vector<SizeCurve> size_curves_of(const results::Run& run);

/// All that differs from what is usual: "allreduce fp32", "allreduce bf16 max, within a host,
/// loaded".
std::string full_name(const Message& one);

/// The message of the plain `time_us`, by the run's fact collectives.headline. nullptr where the
/// run's `messages` lack it.
const Message* headline_message(const results::Run& run, const std::vector<Message>& messages);
/// The headline of a run without its tables: "allreduce of fp32, 4 MiB". "" where nothing was
/// timed.
std::string headline_task(const results::Run& run);

}  // namespace ranklab::report::model
