// One strategy's repetitions: what is timed, and the passes of reading after each.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "experiments/shared/experiment.hpp"
#include "experiments/storage/record.hpp"
#include "experiments/storage/strategy_runner.hpp"
#include "io/ceilings.hpp"

namespace ranklab::experiments {

class Repetitions {
  public:
    /// Both outlive it.
    Repetitions(const StorageOptions& options, const RunContext& context);

    /// Makes the next one; true while there is another one to make. Collective.
    bool make();
    /// No more are made: a signal wants it so.
    void stop(int signal);
    /// No more are made: the last one failed with that exit code.
    void fail(int exit_code);
    StorageRecord finish();
    /// The time that they took.
    double seconds() const { return clock_.total(); }
    bool has_counted() const;
    void remove() { runner_.remove(); }
    int participants() const { return runner_.participants(); }

  private:
    // Counts while a repetition is made.
    class Clock {
      public:
        class Turn : base::Pinned {
          public:
            explicit Turn(Clock& clock) : clock_(clock) { clock_.begin_ = base::Clock::now(); }
            ~Turn() { clock_.before_ = clock_.used(); }

          private:
            Clock& clock_;
        };
        double used() const { return before_ + base::seconds_since(begin_); }
        double total() const { return before_; }  // between two turns

      private:
        double before_ = 0;
        base::Clock::time_point begin_;
    };
    struct Mark {
        std::size_t writes, reads, ceilings;
    };

    void drop_from(const Mark& mark);
    void note_strategy();
    bool goes_on(bool late);
    bool enough(std::int64_t counted, bool ends);
    bool make_one();
    bool write(std::int64_t repetition);
    void measure_ceilings();
    io::CeilingWork ceiling_work();
    bool read(std::int64_t repetition);
    bool check(std::int64_t repetition);
    bool pass(std::int64_t repetition, const std::string& kind, const ReadPlan& plan, bool compare);
    bool time_is_up();
    bool on_any(bool yes);

    const StorageOptions& options_;
    comm::Communicator& control_;
    CountedPart counting_;
    host::StartUp* start_up_;
    StrategyRunner runner_;
    StorageRecord record_;
    Clock clock_;
};

}  // namespace ranklab::experiments
