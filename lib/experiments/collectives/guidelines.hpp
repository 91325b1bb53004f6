// Performance guidelines of an MPI library, without a reference machine: no operation takes longer
// than others that do the same together (Traff, Gropp & Thakur, Self-Consistent MPI Performance
// Guidelines, 2010).
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

/// An operation's time at a message size: median and its interval, in microseconds.
struct Timed {
    double us = 0;
    stats::Interval ci;
    std::size_t calls = 0;
};
/// Messages of one level, load, type and reduction; out of place where the operation can be.
using TimedMessages = std::map<std::pair<comm::Operation, std::uint64_t>, Timed>;

struct GuidelineRow {
    std::string guideline;  ///< "allreduce <= reduce + broadcast"
    comm::Operation left = comm::Operation::allreduce;
    std::uint64_t bytes = 0;
    double left_us = 0, right_us = 0;
    std::string verdict;  ///< holds, VIOLATED, or cannot tell

    double ratio() const { return left_us / right_us; }
};

/// Checks each size at which all operations of a guideline were timed. VIOLATED: the left side's
/// interval lies above the right side's sum of upper ends, by more than a tenth, and so at a
/// neighbouring size, too; fewer than 20 calls give no verdict.
std::vector<GuidelineRow> check_guidelines(const TimedMessages& timed);

/// The setting by which that library ("Open MPI v4.1.4, ...") takes another algorithm.
std::string tuning_of(comm::Operation operation, const std::string& library);

/// Adds the table `guidelines`, where it has rows, and a warning of violations to a run that has
/// its measurements.
void add_guidelines(results::Run& run, const Sweep& sweep, const std::string& library);

}  // namespace ranklab::experiments
