// What the times of calls show: stragglers, for which other ranks wait, and operations slower than
// others that do the same work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/collectives/calls.hpp"
#include "measure/samples.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {

/// Returns how many seconds after the first rank of `control` this rank began each call; NaN for
/// calls in which this rank had no part. `offset_s`: this rank's clock offset. Collective.
std::vector<double> behind_the_first(const CallTimes& times, comm::Communicator& control,
                                     double offset_s);

/// Counts the barriers that some rank of `control` left more than `error_s` before another rank
/// came. Leaves out ranks with NaN times. Collective.
std::int64_t early_leavers(const CallTimes& times, comm::Communicator& control, double offset_s,
                           double error_s);

struct Straggler {
    int rank = -1;    ///< -1: none
    std::string how;  ///< "comes 20.1 ms after the first rank, and last to 98 % of the calls"
};

/// Collects when ranks began their calls, on one clock.
class Arrivals {
  public:
    explicit Arrivals(std::size_t ranks) : late_(ranks), last_(ranks, 0) {}

    /// Rows are calls, columns are ranks: seconds after the first rank; NaN for ranks without a
    /// part. `error_s`: error of comparing clocks of two ranks.
    void add(const measure::RankSamples& behind, double error_s);

    /// Median seconds after the first rank; NaN without calls.
    double late_s(std::size_t rank) const;
    /// Share of calls that the rank began last, with a skew above the clocks' error; NaN: no calls.
    double last_share(std::size_t rank) const;
    /// Median over calls of the seconds from the first to the last rank; NaN without calls.
    double skew_s() const;
    /// Returns a rank that comes last to at least half of the calls and far later than the second
    /// latest rank; none if there are few calls.
    Straggler straggler() const;

  private:
    double error_s_ = 0;                     // the largest error passed to add()
    std::vector<std::vector<double>> late_;  // by rank: seconds, for the newest calls
    std::vector<std::size_t> last_;          // by rank: calls that it began last
    std::vector<double> skews_;
    std::size_t calls_ = 0;
};

/// Times in us by operation and bytes, for one level, load and type. Reductions are sums.
using TimedMessages = std::map<std::pair<comm::Operation, std::uint64_t>, stats::Summary>;

struct GuidelineRow {
    std::string guideline;  ///< "allreduce <= reduce + broadcast"
    comm::Operation left = comm::Operation::allreduce;
    std::uint64_t bytes = 0;
    double left_us = 0, right_us = 0;
    std::string verdict;  ///< holds, VIOLATED, or cannot tell

    double ratio() const { return left_us / right_us; }
    bool is_violated() const { return verdict == "VIOLATED"; }
};

/// Checks the performance guidelines of an MPI library, which need no reference machine: no
/// operation may take longer than other operations that together do the same (Traff, Gropp &
/// Thakur, Self-Consistent MPI Performance Guidelines, 2010). One row per guideline and size at
/// which all its operations were timed. VIOLATED: the lower end of the interval of the operation
/// left of "<=" exceeds 1.1 times the sum of the upper ends of the operations right of it; if the
/// guideline has several rows, the ratio() at the next smaller or larger size exceeds 1.1, too.
/// With fewer than 20 calls: cannot tell.
std::vector<GuidelineRow> check_guidelines(const TimedMessages& timed);

/// The setting that chooses another algorithm of the library ("Open MPI v4.1.4, ...").
std::string tuning_of(comm::Operation operation, const std::string& library);

}  // namespace ranklab::experiments
