// All messages of a run: timed in several rounds, then checked; and what the run holds of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/collectives/buffers.hpp"
#include "experiments/collectives/calls.hpp"
#include "experiments/collectives/late.hpp"
#include "experiments/collectives/levels.hpp"
#include "experiments/collectives/message.hpp"
#include "experiments/collectives/nonblocking.hpp"
#include "experiments/collectives/options.hpp"
#include "experiments/collectives/pattern.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// The measurement of a message, equal on all ranks.
struct MessageRow {
    Message message;
    std::string level = "job", load = "idle";
    int ranks = 1;
    int root = -1;
    int bucket = -1;  ///< of --from-model, in the order of a training step; -1: no bucket
    /// The time of each call, over ranks; for one message where a call has several.
    std::vector<double> us = {};
    /// Wrong elements (for a barrier: calls) of all ranks; nullopt: not checked.
    std::optional<std::int64_t> wrong = {};
    /// For each visit the share of time in which the compute kernel ran.
    std::vector<double> load_shares = {};
    double late_begins = 0;                    ///< calls that began after the agreed moment
    std::optional<StartedTimes> started = {};  ///< us, of each call; the longest over ranks
    std::optional<std::int64_t> started_wrong = {};
    /// The name: "bucket 3", or "allreduce:fp32:sum:8" and further distinctions:
    /// ":in-place:loaded:hosts".
    std::string name() const;
    /// One of the same form differs in its size alone.
    bool has_form_of(const MessageRow& other) const;
};

class Sweep {
  public:
    /// All arguments outlive it. Collective. `ends` is asked on all ranks, often, while calls are
    /// made; true stops them.
    Sweep(const CollectivesOptions& options, const comm::BackendEntry& backend,
          comm::Communicator& data, comm::Communicator& control, std::function<bool()> ends);

    /// The number of visits: a message is visited in every round, and each round has an order of
    /// its own, so that drift and effects of one message on the next reach all messages alike.
    std::size_t planned() const { return order_.size(); }
    std::size_t done() const { return done_; }
    /// Makes the next one. False where it was ended in its midst; not after the last. Collective.
    bool step();
    std::string next() const;

    bool has_times() const;
    /// Those without times were not reached.
    const std::vector<MessageRow>& rows() const { return rows_; }
    const Arrivals& arrivals() const { return arrivals_; }
    const HostsOfJob& hosts() const { return hosts_; }
    const JobClocks& clocks() const { return clocks_; }

  private:
    struct Visit {
        std::size_t row = 0, level = 0;
        int calls = 0;
        bool loaded = false, last = false;  ///< last: of this message
    };
    // One level's calls of one message, and what is known of them.
    struct PreparedCalls {
        std::vector<comm::Transfer> transfers;
        std::vector<std::unique_ptr<comm::Prepared>> calls;
        bool takes_part = false;  ///< this rank
    };

    void plan();
    void plan_rounds(std::size_t first, std::size_t level, bool loaded);
    bool time_message(const Visit& visit);
    CallTimes time_visit(const Visit& visit, const PreparedCalls& made, Level& level);
    CallTimes make_calls(const PreparedCalls& made, Level& level, CallSync between, int calls);
    double warm_up(const PreparedCalls& made, Level& level);
    bool starts(const Message& message) const;
    std::optional<std::int64_t> check(const Message& message, const PreparedCalls& made,
                                      const Level& level, Form form);
    int calls_at_once(double call_s, int left) const;
    void add_times(MessageRow& row, const CallTimes& times);
    bool time_started_form(MessageRow& row, const PreparedCalls& made, Level& level);
    bool time_buckets();
    PreparedCalls made_of(const Message& message, Buffers& buffers, Level& level);
    Caller caller_of(const PreparedCalls& made, const Level& level) const;
    void note_arrivals(const CallTimes& times, const Level& level);
    int root_at(const Level& level) const;

    const CollectivesOptions& options_;
    const comm::BackendEntry& backend_;
    comm::Communicator& control_;
    std::function<bool()> ends_;
    HostsOfJob hosts_;
    std::vector<Level> levels_;
    JobClocks clocks_;
    Arrivals arrivals_;
    Buffers buffers_;
    Compute compute_;
    std::unique_ptr<Load> load_;
    double ahead_s_;
    std::vector<Visit> order_;
    std::size_t done_ = 0;
    bool ended_ = false;
    std::uint64_t checks_ = 0;  // made so far
    std::vector<MessageRow> rows_;
};

struct SweepEnd {
    int stopped_by = 0;  ///< a signal; 0: none
    bool hit_time_limit = false;
};

/// Adds measurements, tables, facts, verdicts and warnings of all that is measured so far; the same
/// on all ranks.
void fill_collectives_run(results::Run& run, const Sweep& sweep, const SweepEnd& end,
                          const CollectivesOptions& options, const comm::BackendEntry& backend,
                          comm::Communicator& control);

/// Adds the tables messages, nonblocking, buckets, fits, guidelines and clocks, where they have
/// rows, to a run that has its measurements and intervals. `library`: the backend's.
void add_collectives_tables(results::Run& run, const Sweep& sweep,
                            const CollectivesOptions& options, const std::string& library);

/// The measurement of a message's times.
std::string measurement_of(const MessageRow& row);
/// An empty one of a message that was not timed.
stats::Summary summary_of(const results::Run& run, const MessageRow& row);
std::string dtype_of(const Message& message);

}  // namespace ranklab::experiments
