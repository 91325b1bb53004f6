// One strategy of the ladder on the ranks of a job: written once, read once, each record compared.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiments/shared/experiment.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/storage/options.hpp"
#include "experiments/storage/readers.hpp"
#include "io/cache_label.hpp"

namespace ranklab::experiments {

/// Seconds of this rank; all begin at one barrier. Zero on ranks that take no part.
struct WriteTrial {
    double job_s = 0;  ///< open, write and close of the strategy
    double open_s = 0;
    base::IoTimes times;
    double begin_s = 0;  ///< on the clock of `times`
    /// The times of the slowest process that wrote for this rank: phases write and fsync, and open
    /// and close.
    double slowest_write_s = 0;
    double slowest_create_s = 0;
};

/// The result of a pass over this rank's share of the records.
struct ReadTrial {
    base::IoTimes times;
    std::int64_t records = 0;
    bool compared = false;
    std::int64_t wrong = 0;  ///< elements; all of a record that could not be read
    std::int64_t wrong_records = 0;
    std::string first_wrong;  ///< a sentence about the first of them
    io::CacheEvidence cache;  ///< of this rank's files, just before and while they were read

    /// Reading without comparing: the phases open, read, parse and close.
    double seconds() const;
};

/// Among the repetitions of all strategies, for the bar of progress.
struct Turn {
    std::int64_t number = 1, of = 1;
};

class StrategyRunner {
  public:
    /// Collective over `control`. All arguments outlive it.
    StrategyRunner(const StorageOptions& options, comm::Communicator& control,
                   base::ProgressSink& progress);

    ~StrategyRunner();

    bool takes_part() const { return control_.rank() < participants_; }
    comm::Communicator& ranks() { return *ranks_; }

    /// `late` is asked between two records. Where it returns true the work under way ends: writing
    /// only where one rank writes alone (otherwise another could wait for ever), reading on each
    /// rank.
    void stop_when(std::function<bool()> late) { late_ = std::move(late); }
    bool was_cut() const { return cut_; }

    /// Collective over `control`. Files of an earlier writing are removed before the clock starts.
    WriteTrial write(Turn turn = {});
    const WrittenBy& written() const { return written_; }
    /// Collective. This rank reads its part of the plan; with `compare`, each value is compared
    /// with the recomputed one between two readings.
    ReadTrial read(const ReadPlan& plan, bool compare);
    /// A signal or a failure has stopped the work: no more is written or read.
    void leave() { left_ = true; }
    /// Collective. Removes all records that exist.
    void remove();

    void evict(const ReadPlan& plan);

    const io::Strategy& strategy() const { return *strategy_; }
    /// Reports progress other than a record to the watchdog; throws base::Interrupted as a record
    /// does.
    void beat();
    /// The records that a user finds after stopping the work: their number, or "data.h5 ..." for a
    /// shared file.
    std::string what_there_is() const;

  private:
    void renew();
    WriteTrial write_timed();
    void read_records(const ReadPlan& plan, const std::string& activity, ReadTrial& trial);
    void read_record(io::Reader& reader, std::int64_t id, ReadTrial& trial);
    void for_each_file(const ReadPlan& plan,
                       const std::function<void(const std::filesystem::path&)>& visit) const;
    io::CacheEvidence evidence_before(const ReadPlan& plan) const;
    void record_done(std::int64_t more);
    void show_done(std::int64_t more);
    void stop_if_asked();
    void compare_record(std::int64_t id, std::span<const double> values, ReadTrial& trial);

    const StorageOptions& options_;
    comm::Communicator& control_;
    base::ProgressSink& progress_;
    int participants_;
    std::unique_ptr<comm::Communicator> ranks_;
    io::Grid grid_;
    WrittenBy written_;
    base::IoTimes times_;
    std::unique_ptr<io::Strategy> strategy_;
    Turn turn_;
    std::int64_t done_ = 0;
    base::IoTimes::Clock::time_point begin_;
    enum class Verb { none, open, write, close };
    Verb verb_ = Verb::none;  // of the strategy, under way
    StopPoll poll_;
    std::vector<double> values_, expected_;
    std::function<bool()> late_;
    bool cut_ = false;
    bool left_ = false;
};

}  // namespace ranklab::experiments
