// All messages of a run: each is timed in several rounds, then checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/collectives/options.hpp"
#include "experiments/shared/experiment.hpp"
#include "measure/clock_offset.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

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

/// comm --op pairs: what one pair of ranks measured in one round.
struct PairRow {
    std::size_t round = 0, a = 0, b = 0;  ///< a < b
    double latency_us = 0, bandwidth_GBps = 0;
};

/// What a sweep measured; the same on all ranks.
struct Sweep {
    const CollectivesOptions& options;
    std::vector<std::string> hosts;                 ///< host name of each rank
    std::vector<measure::ClockOffset> clocks = {};  ///< of each rank
    std::vector<MessageRow> rows = {};
    std::vector<PairRow> pairs = {};
    std::size_t visits_planned = 0, visits_done = 0;
    int stopped_by = 0;  ///< a signal; 0: none
    bool hit_time_limit = false;
};

/// Times and checks all messages. A message is visited once in every round, and each round has an
/// order of its own: drift, and effects of one message on the next, affect all messages alike.
/// With --op pairs each round forms new pairs, which all at once time and check a ping-pong of
/// --min-bytes and an exchange of --max-bytes; a row has one time per pair and round. Ends early
/// after a signal or at --time-limit; throws if nothing was timed by then. Collective; the options
/// must outlive the result.
Sweep run_sweep(const CollectivesOptions& options, const RunContext& context);

/// Adds measurements, tables, facts, checks and warnings of the sweep. Collective; the same on all
/// ranks.
void fill_collectives_run(results::Run& run, const Sweep& sweep, comm::Communicator& control);

/// Adds the tables messages, nonblocking, buckets, fits, pairs and clocks, if they have rows, to a
/// run that has its measurements and intervals.
void add_collectives_tables(results::Run& run, const Sweep& sweep);

std::string measurement_of(const MessageRow& row);

}  // namespace ranklab::experiments
