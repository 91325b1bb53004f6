// SIGTERM, SIGHUP and Ctrl-C may reach only some ranks. The ranks ask each other, so that all stop
// after the same unit of work.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "comm/communicator.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Asks all ranks for stop signals between units of work (steps, batches), outside of timed parts:
/// after the first unit, then after kMostUnits units or a quarter of a second, whichever comes
/// first. All ranks do the same number of units.
class StopPoll {
  public:
    static constexpr std::int64_t kMostUnits = 25;

    explicit StopPoll(comm::Communicator& control) : control_(control), last_asked_(Clock::now()) {}

    void unit_done() { ++done_; }
    /// Whether the ranks must now ask each other for stop signals. Equal on all ranks.
    bool due() const { return done_ >= next_; }
    /// Collective. Returns true once any rank has got a stop signal.
    bool ask();
    /// Call after each unit: counts it, and asks if due.
    bool asked() {
        unit_done();
        return due() ? ask() : signal_ != 0;
    }
    /// Call before units of another length: the ranks ask after the first of them.
    void restart() {
        last_asked_ = Clock::now();
        last_ = done_;
        next_ = done_ + 1;
    }

    /// The signal on which the ranks agreed; 0: none.
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

/// Collective, before anything was measured. If any rank got a stop signal, throws
/// base::Interrupted ("stopped by SIGTERM `where`") on the lowest of these ranks, and
/// comm::PeerError on the other ranks.
void stop_if_asked(comm::Communicator& control, const std::string& where);

/// Collective. Throws the errors of stop_if_asked() for `signal`, on which the ranks agreed before
/// anything was measured. Does nothing for 0.
void refuse_after_a_stop(comm::Communicator& control, int signal);

/// Marks a run that a signal ended: its first warning says where ("after 57 of 200 steps"), and its
/// exit code is 128 + the signal, unless a check failed. Does nothing for 0.
void mark_stopped(results::Run& run, int signal, const std::string& what_is_there);

/// Marks a run that the time limit or a signal (0: none) ended: as mark_stopped(), or with the exit
/// code of the time limit. `more` follows the warning of a signal.
void mark_early_end(results::Run& run, bool at_time_limit, int signal, const std::string& where,
                    const std::string& more = "");

}  // namespace ranklab::experiments
