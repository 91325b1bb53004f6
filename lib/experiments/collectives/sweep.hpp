// All messages of a run: timed in several rounds, then checked.
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

namespace ranklab::experiments {

/// What was measured of a message; the same on all ranks.
struct MessageRow {
    Message message;
    std::string level, load;
    int ranks = 1;
    int root = -1;
    std::vector<double> us = {};  ///< of each call, over ranks, of one message where a call has several
    std::optional<std::int64_t> wrong =
        {};                 ///< elements (of a barrier: calls) of all ranks; nothing: not checked
    double load_share = 0;  ///< of its visits' time, in which the compute kernel ran
    double late_share = 0;  ///< of the calls that began after the agreed moment
    /// "allreduce:fp32:sum:8", and what else tells it apart: ":in-place:loaded:hosts".
    std::string name() const;
};

/// us, of each call; the longest over ranks.
struct StartedRow {
    std::size_t row = 0;  ///< among the messages
    std::vector<double> pure = {}, compute = {}, overall = {}, init = {}, test = {}, wait = {};
    std::optional<std::int64_t> wrong = {};
};

struct BucketRows {
    std::vector<Message> messages;        ///< in order
    std::vector<std::vector<double>> us;  ///< of each bucket, of each pass
    std::vector<std::optional<std::int64_t>> wrong;
};

class Sweep {
  public:
    /// All outlive it. Collective. `ends`: asked on all ranks, often, while calls are made; true stops them.
    Sweep(
        const CollectivesOptions& options, const comm::BackendEntry& backend, comm::Communicator& data,
        comm::Communicator& control, std::function<bool()> ends = [] { return false; });

    /// Visits of messages: each in every round, and each round in an order of its own, so that what drifts,
    /// and what one message leaves to the next, is in all of them.
    std::size_t planned() const { return order_.size(); }
    std::size_t done() const { return done_; }
    /// Makes the next one. False where it was ended in its midst; not after the last. Collective.
    bool step();
    std::string next() const;
    void finish();

    bool has_times() const;
    /// Those without times were not reached.
    const std::vector<MessageRow>& rows() const { return rows_; }
    const std::vector<StartedRow>& started() const { return started_; }
    const std::optional<BucketRows>& buckets() const { return buckets_; }
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
    struct Made {
        std::vector<comm::Transfer> transfers;
        std::vector<std::unique_ptr<comm::Prepared>> calls;
    };

    void plan();
    void plan_rounds(std::size_t first, std::size_t level, bool loaded);
    bool time_message(const Visit& visit);
    CallTimes time_visit(const Visit& visit, const Made& made, Level& level);
    CallTimes make_calls(const Made& made, Level& level, Between between, int calls);
    double warm_up(const Made& made, Level& level);
    bool starts(const Message& message) const;
    static double with_more(double share, double now, std::size_t calls, std::size_t more);
    void note_load(MessageRow& row, double share, const CallTimes& times, bool active);
    void note_late_begins(MessageRow& row, const CallTimes& times);
    int calls_at_once(double call_s, int left) const;
    bool time_started_form(const Visit& visit, const Made& made, Level& level);
    bool time_buckets();
    void time_pass(std::vector<Made>& made, bool counts);
    Made made_of(const Message& message, Buffers& buffers, Level& level);
    Caller caller_of(const Made& made, const Level& level) const;
    measure::RankSamples gathered(const std::vector<double>& mine, std::size_t rows, bool there);
    std::vector<double> folded(const measure::RankSamples& all, const Message& message) const;
    void note_arrivals(const CallTimes& times, bool there, const Level& level);
    std::int64_t early_leavers(const CallTimes& times, bool there, const Level& level);
    int root_at(const Level& level) const;

    const CollectivesOptions& options_;
    const comm::BackendEntry& backend_;
    comm::Communicator& control_;
    std::function<bool()> ends_;
    HostsOfJob hosts_;
    std::vector<Level> levels_;
    JobClocks clocks_;
    Arrivals arrivals_;
    Checker checker_;
    Buffers buffers_;
    Compute compute_;
    std::unique_ptr<Load> load_;
    double ahead_s_;
    std::vector<Visit> order_;
    std::size_t done_ = 0;
    bool ended_ = false;
    std::vector<MessageRow> rows_;
    std::vector<StartedRow> started_;
    std::optional<BucketRows> buckets_;
};

}  // namespace ranklab::experiments
