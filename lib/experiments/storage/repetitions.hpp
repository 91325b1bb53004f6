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
    bool make(Turn turn);
    /// Makes no more repetitions: the last one failed with that exit code, or a signal came (128 +
    /// its number).
    void end_early(int exit_code);
    StorageRecord finish();
    /// The time that they took.
    double seconds() const { return seconds_; }
    bool has_counted() const { return counted() > 0 || !record_.reads.empty(); }
    void remove() { runner_.remove(); }

  private:
    std::int64_t counted() const { return std::ssize(record_.writes) - options_.warmup(); }
    double used() const { return seconds_ + base::seconds_since(begin_); }
    void note_strategy();
    bool goes_on(bool whole);
    bool enough(bool ends);
    bool make_one(Turn turn);
    bool write(std::int64_t repetition, Turn turn);
    void measure_ceilings();
    io::CeilingWork ceiling_work();
    bool read(std::int64_t repetition);
    bool pass(std::int64_t repetition, const std::string& kind, const ReadPlan& plan, bool compare);
    bool time_is_up();
    bool on_any(bool yes);

    const StorageOptions& options_;
    comm::Communicator& control_;
    CountedPart counting_;
    host::StartUp* start_up_;
    StrategyRunner runner_;
    StorageRecord record_;
    double seconds_ = 0;  // of the repetitions before the one that began at begin_
    base::Clock::time_point begin_;
};

}  // namespace ranklab::experiments
