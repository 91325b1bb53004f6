// SIGTERM, SIGHUP and Ctrl-C may reach only some ranks: the ranks ask each other, so that all stop
// at the same place.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "comm/communicator.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Asks between units of work (steps, batches), of which all ranks make equally many, and outside
/// of timed parts: after the first unit, then after every kMostUnits, or more often where units are
/// long, so that a quarter of a second passes in between, or one unit.
class StopPoll {
  public:
    static constexpr std::int64_t kMostUnits = 25;

    explicit StopPoll(comm::Communicator& control) : control_(control), last_asked_(Clock::now()) {}

    void unit_done() { ++done_; }
    /// Whether the ranks ask now; the same on all ranks.
    bool due() const { return done_ >= next_; }
    /// Collective. True where any rank got a stop signal: the same on all ranks, and from then on.
    bool ask();
    /// After a unit: the three together.
    bool asked() {
        unit_done();
        return due() ? ask() : signal_ != 0;
    }
    /// Units of another length come now: the ranks ask after the first of them.
    void restart() {
        last_asked_ = Clock::now();
        last_ = done_;
        next_ = done_ + 1;
    }

    /// The signal that the ranks agreed on; 0: go on.
    int signal() const { return signal_; }

  private:
    using Clock = std::chrono::steady_clock;

    comm::Communicator& control_;
    Clock::time_point last_asked_;
    std::int64_t done_ = 0;
    std::int64_t last_ = 0;
    std::int64_t next_ = 1;
    int signal_ = 0;
};

/// Collective, before there is anything to keep: base::Interrupted ("stopped by SIGTERM `where`")
/// on the lowest rank that got a signal, comm::PeerError on the others.
void stop_if_asked(comm::Communicator& control, const std::string& where);

/// Collective. Throws these errors where the ranks have agreed on the signal (0: none), and nothing
/// was measured.
void refuse_after_a_stop(comm::Communicator& control, int signal);

/// Marks a stopped run: the first warning says how far it came ("after 57 of 200 steps"), and the
/// exit code is 128 + the signal, where no check failed. Does nothing without a signal (0).
void mark_stopped(results::Run& run, int signal, const std::string& what_is_there);

}  // namespace ranklab::experiments
