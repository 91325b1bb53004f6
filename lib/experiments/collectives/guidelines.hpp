// Performance guidelines of an MPI library, which need no reference machine: no operation may take
// longer than other operations that together do the same (Traff, Gropp & Thakur, Self-Consistent
// MPI Performance Guidelines, 2010).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "comm/operation.hpp"
#include "experiments/collectives/sweep.hpp"
#include "results/run.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {

/// Median and interval in us.
struct Timed {
    double us = 0;
    stats::Interval ci;
    std::size_t calls = 0;
};
/// By operation and bytes: messages of one level, load and type, reduced by sum.
using TimedMessages = std::map<std::pair<comm::Operation, std::uint64_t>, Timed>;

struct GuidelineRow {
    std::string guideline;  ///< "allreduce <= reduce + broadcast"
    comm::Operation left = comm::Operation::allreduce;
    std::uint64_t bytes = 0;
    double left_us = 0, right_us = 0;
    std::string verdict;  ///< holds, VIOLATED, or cannot tell

    double ratio() const { return left_us / right_us; }
};

/// Checks each size at which all operations of a guideline were timed. VIOLATED: the interval of
/// the left side lies more than a tenth above the sum of the right side's upper ends, and a
/// neighbouring size is violated, too. Fewer than 20 calls give no verdict.
std::vector<GuidelineRow> check_guidelines(const TimedMessages& timed);

/// The setting that makes the library ("Open MPI v4.1.4, ...") use another algorithm.
std::string tuning_of(comm::Operation operation, const std::string& library);

/// Adds the table `guidelines`, if it has rows, and a warning of violations.
void add_guidelines(results::Run& run, const Sweep& sweep);

}  // namespace ranklab::experiments
