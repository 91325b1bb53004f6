// All messages of a run: each is timed in several rounds, then checked. And the stragglers among
// the ranks, for which other ranks wait.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/collectives/options.hpp"
#include "experiments/shared/experiment.hpp"
#include "measure/clock_offset.hpp"
#include "measure/samples.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Returns how many seconds after the first rank of `control` this rank began each call; NaN for
/// calls in which this rank had no part. `offset_s`: this rank's clock offset. Collective.
std::vector<double> behind_the_first(const CallTimes& times, comm::Communicator& control,
                                     double offset_s);

/// Counts the barriers that a rank of `control` left more than `error_s` before another rank
/// arrived. Leaves out ranks with NaN times. Collective.
std::int64_t early_leavers(const CallTimes& times, comm::Communicator& control, double offset_s,
                           double error_s);

struct Straggler {
    int rank = -1;    ///< -1: none
    std::string how;  ///< "arrives 20.1 ms after the first rank, and last in 98 % of the calls"
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
    /// Returns a rank that arrives last in at least half of the calls, and far later than the
    /// second latest rank; none if there are few calls.
    Straggler straggler() const;

  private:
    double error_s_ = 0;                     // the largest error passed to add()
    std::vector<std::vector<double>> late_;  // by rank: seconds, for the newest calls
    std::vector<std::size_t> last_;          // by rank: calls that it began last
    std::vector<double> skews_;
    std::size_t calls_ = 0;
};

/// The measurement of one message; the same on all ranks.
struct MessageRow {
    Message message;
    std::string level = "job";
    int root = -1;    ///< of broadcast and reduce
    int bucket = -1;  ///< of --from-model, in the order of a training step; -1: none
    /// Microseconds per message of each timed call, one number for all ranks (--average). Empty
    /// if the run ended before this message.
    std::vector<double> us = {};
    /// Wrong elements of all ranks (barrier: calls that a rank left early). nullopt: not checked.
    std::optional<std::int64_t> wrong = {};
    double late_begins = 0;                    ///< calls begun too late, maximum over ranks
    std::optional<StartedTimes> started = {};  ///< us of each call, maximum over ranks
    std::optional<std::int64_t> started_wrong = {};

    bool is_barrier() const { return message.operation == comm::Operation::barrier; }
    /// "bucket 3", or "allreduce:fp32:sum:8:in-place:hosts"; leaves out the usual parts.
    std::string name() const;
    /// True if this row and `other` differ at most in message size.
    bool has_form_of(const MessageRow& other) const;
};

/// What a sweep measured; the same on all ranks.
struct Sweep {
    const CollectivesOptions& options;
    std::vector<std::string> hosts;                 ///< host name of each rank
    std::vector<measure::ClockOffset> clocks = {};  ///< of each rank
    Arrivals arrivals;
    std::vector<MessageRow> rows = {};
    std::size_t visits_planned = 0, visits_done = 0;
    int stopped_by = 0;  ///< a signal; 0: none
    bool hit_time_limit = false;
};

/// Times and checks all messages. A message is visited once in every round, and each round has an
/// order of its own: drift, and effects of one message on the next, affect all messages alike. Ends
/// early after a signal or at --time-limit; throws if nothing was timed by then. Collective; the
/// options must outlive the result.
Sweep run_sweep(const CollectivesOptions& options, const RunContext& context);

/// Adds measurements, tables, facts, checks and warnings of the sweep. Collective; the same on all
/// ranks.
void fill_collectives_run(results::Run& run, const Sweep& sweep, comm::Communicator& control);

/// Adds the tables messages, nonblocking, buckets, fits and clocks, if they have rows, to a run
/// that has its measurements and intervals.
void add_collectives_tables(results::Run& run, const Sweep& sweep);

std::string measurement_of(const MessageRow& row);

}  // namespace ranklab::experiments
