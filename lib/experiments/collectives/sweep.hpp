// All messages of a run, one after the other: timed, then checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/collectives/buffers.hpp"
#include "experiments/collectives/calls.hpp"
#include "experiments/collectives/compute.hpp"
#include "experiments/collectives/late.hpp"
#include "experiments/collectives/levels.hpp"
#include "experiments/collectives/message.hpp"
#include "experiments/collectives/options.hpp"
#include "measure/clock_offset.hpp"

namespace ranklab::experiments {

/// What was measured of a message; the same on all ranks.
struct MessageRow {
    Message message;
    std::string level, load;
    int ranks = 1;
    int root = -1;
    std::vector<double> us;             ///< of each call, over ranks, of one message where a call has several
    std::optional<std::int64_t> wrong;  ///< elements of all ranks; nothing: not checked
    std::int64_t checked = 0;           ///< elements that were compared
    /// "allreduce:fp32:sum:8", and what else tells it apart: ":in-place:loaded:hosts".
    std::string name() const;
};

struct StartedRow {
    Message message;
    std::string level, load;
    int ranks = 1;
    std::vector<double> pure, compute, overall, init, test, wait;  ///< us, the longest over ranks
};

struct BucketRows {
    std::vector<Message> messages;        ///< in order
    std::vector<std::vector<double>> us;  ///< of each bucket, of each pass
    std::vector<std::optional<std::int64_t>> wrong;
};

class Sweep {
  public:
    /// All outlive it. Collective.
    Sweep(const CollectivesOptions& options, const comm::BackendEntry& backend, comm::Communicator& data,
          comm::Communicator& control);

    /// Messages that are to be timed, and how many are.
    std::size_t planned() const { return units_.size(); }
    std::size_t done() const { return done_; }
    /// Times the next one. Collective; not after the last.
    void step();
    /// What is timed next, for who waits for it.
    std::string next() const;
    /// After the last: looks at the clocks once more.
    void finish();

    const std::vector<MessageRow>& rows() const { return rows_; }
    const std::vector<StartedRow>& started() const { return started_; }
    const std::optional<BucketRows>& buckets() const { return buckets_; }
    const Arrivals& arrivals() const { return arrivals_; }
    /// Of all ranks; the second is empty before finish().
    const std::vector<measure::ClockOffset>& clocks() const { return clocks_; }
    const std::vector<measure::ClockOffset>& clocks_at_end() const { return clocks_at_end_; }

  private:
    struct Unit {
        std::size_t level = 0;
        bool loaded = false;
        Message message;  ///< of no meaning where all buckets of a model are the unit
    };

    void plan();
    void time_message(const Unit& unit, Level& level);
    void time_started_form(const Unit& unit, Level& level);
    void time_buckets();
    MessageRow row_of(const Unit& unit, const Level& level) const;
    std::vector<std::unique_ptr<comm::Prepared>> prepared(const std::vector<comm::Transfer>& transfers,
                                                          Level& level);
    Caller caller_of(const std::vector<std::unique_ptr<comm::Prepared>>& calls, const Level& level) const;
    measure::RankSamples gathered(const std::vector<double>& mine, std::size_t rows, bool there);
    std::vector<double> folded(const measure::RankSamples& all, double factor) const;
    void note_arrivals(const CallTimes& times, std::size_t rows, bool there, const Level& level);
    std::optional<std::int64_t> check(const Message& message, Level& level,
                                      const std::vector<comm::Transfer>& transfers,
                                      std::vector<std::unique_ptr<comm::Prepared>>& calls,
                                      std::int64_t& compared);
    std::int64_t early_leavers(const std::vector<double>& mine, const Level& level);
    int root_at(const Level& level) const;
    double sleep_s() const;

    const CollectivesOptions& options_;
    const comm::BackendEntry& backend_;
    comm::Communicator& control_;
    std::vector<Level> levels_;
    std::vector<Unit> units_;
    std::size_t done_ = 0;
    Buffers buffers_;
    Compute compute_;
    std::unique_ptr<Load> load_;
    std::vector<measure::ClockOffset> clocks_, clocks_at_end_;
    Arrivals arrivals_;
    measure::RankSamples
        came_;  // to the message that was timed last, of this rank's group, on rank 0's clock
    std::vector<MessageRow> rows_;
    std::vector<StartedRow> started_;
    std::optional<BucketRows> buckets_;
    std::uint64_t salt_ = 0;
};

}  // namespace ranklab::experiments
