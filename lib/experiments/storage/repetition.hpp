// One repetition of one strategy: it writes the records, measures the machine's ceilings next to
// them, and reads the records back. Schedule decides which repetition comes next.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "base/progress.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/storage/options.hpp"
#include "experiments/storage/readers.hpp"
#include "io/cache_label.hpp"
#include "io/ceilings.hpp"

namespace ranklab::experiments {

/// Seconds of one writing on this rank, from a barrier of all ranks; 0 if the rank does not write.
struct Writing {
    double job_s = 0;  ///< the strategy's open, write and close
    double open_s = 0;
    base::IoTimes times;
    double begin_s = 0;  ///< end of the barrier, on the clock of `times`
    /// Longest over this rank's writing processes: s in write and fsync; s in open and close.
    double slowest_write_s = 0, slowest_create_s = 0;
};

/// The first timed pass of a repetition: it alone counts for the read rate, since later passes find
/// its pages in the cache.
inline constexpr const char* kRatedPass = "read 1";

/// One pass of reading over this rank's part of the records.
struct ReadPass {
    int repetition = 0;  ///< counted from 1; warm-up repetitions have no read pass
    std::string kind;    ///< kRatedPass, "read 2" (timed) or "check" (untimed, compared)
    WhoReads who = WhoReads::writers;
    base::IoTimes times;
    std::int64_t records = 0;
    bool compared = false;
    std::int64_t wrong = 0;  ///< elements; all elements of a record that cannot be read
    std::int64_t wrong_records = 0;
    std::string first_wrong;  ///< describes the first wrong element
    io::CacheEvidence cache;  ///< of this rank's files, before and during the pass

    /// The sum of the phases open, read, parse and close: comparing is not timed.
    double seconds() const;
};

struct Repetition {
    Writing writing;
    std::vector<ReadPass> passes;
    std::vector<io::Ceilings> ceilings;  ///< the same on all ranks that write
};

/// The position among the repetitions of all strategies, for the progress bar.
struct Turn {
    std::int64_t number = 1, of = 1;
};

/// Makes the repetitions of one strategy. Its public functions are collective over `control`,
/// except where they say otherwise.
class Repeater : base::Immovable {
  public:
    /// All arguments must outlive it.
    Repeater(const StorageOptions& options, comm::Communicator& control,
             base::ProgressSink& progress);
    ~Repeater();

    /// Makes repetition `number`, counted from 1; warm-ups have numbers below 1 and no read pass.
    /// With --time-limit, returns nullopt if any rank passed its `deadline`.
    std::optional<Repetition> make(std::int64_t number, Turn turn,
                                   std::optional<base::Clock::time_point> deadline);
    /// Removes the records' files.
    void remove();
    /// Called after a failure or a signal, when no transfer completes any more. Not collective.
    void abandon() { abandoned_ = true; }

    /// The parts of make(). The files of an earlier writing are removed before the clock starts.
    Writing write(Turn turn);
    ReadPass read(const ReadPlan& plan, bool compare);

    const io::Strategy& strategy() const { return *strategy_; }
    const WrittenBy& written() const { return written_; }
    /// With --trace: the timed calls of this rank and of each of its workers in the last writing,
    /// which began at `begin_s` on this node's clock. Empty on a rank that does not write.
    struct Traced {
        double begin_s = 0;
        std::vector<std::vector<base::IoEvent>> lanes = {};
        static auto fields(auto& self) { return std::tie(self.begin_s, self.lanes); }
    };
    Traced traced() const;

  private:
    void renew();
    Writing write_timed();
    void measure_ceilings(std::vector<io::Ceilings>& measured);
    bool read_back(int number, std::vector<ReadPass>& passes);
    void read_records(const ReadPlan& plan, ReadPass& pass);
    void read_record(io::Reader& reader, std::int64_t id, ReadPass& pass);
    void compare_record(std::int64_t id, ReadPass& pass);
    void evict(const ReadPlan& plan);
    void for_each_file(const ReadPlan& plan,
                       const std::function<void(const std::filesystem::path&)>& visit) const;
    io::CacheEvidence evidence_before(const ReadPlan& plan) const;
    void records_done(std::int64_t more);
    void show_done(std::int64_t more);
    void stop_if_asked();
    bool is_late() const { return deadline_ && base::Clock::now() > *deadline_; }
    bool any_was_cut();
    std::string files_left() const;
    bool writes() const { return control_.rank() < written_.writers; }

    const StorageOptions& options_;
    comm::Communicator& control_;
    base::ProgressSink& progress_;
    WrittenBy written_;
    std::unique_ptr<comm::Communicator> ranks_;  // this rank's group: writers, or the others
    io::Grid grid_;
    base::IoTimes times_;
    std::vector<base::IoEvent> events_;  // with --trace
    std::unique_ptr<io::Strategy> strategy_;
    Turn turn_;
    std::int64_t done_ = 0;  // records that the strategy reported as written on this rank
    base::Clock::time_point begin_;
    enum class Verb { none, open, write, close };
    Verb verb_ = Verb::none;  // the strategy's call in progress
    StopPoll poll_;
    std::vector<double> values_, expected_;
    std::optional<base::Clock::time_point> deadline_;
    bool cut_ = false;  // the deadline passed during the last writing or pass
    bool abandoned_ = false;
};

}  // namespace ranklab::experiments
