// How long an experiment measures, equal on all ranks: until --target-ci is reached, a stop signal
// came or the time limit is over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/stop_signals.hpp"
#include "comm/communicator.hpp"
#include "measure/convergence.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// SIGTERM, SIGHUP and Ctrl-C may reach only some ranks, and clocks differ. So the ranks agree
/// between units of work (steps, batches), outside of timed parts, whether to stop: after the first
/// unit, then after kMostUnits units or a quarter of a second, whichever comes first. All ranks do
/// the same number of units.
class StopPoll {
  public:
    static constexpr std::int64_t kMostUnits = 25;

    explicit StopPoll(comm::Communicator& control, std::optional<double> time_limit_s = {})
        : control_(control), time_limit_s_(time_limit_s) {}

    /// The time limit counts from now on; without a call, from the construction.
    void start_clock() { start_ = Clock::now(); }
    double seconds() const { return base::seconds_since(start_); }

    void unit_done() { ++done_; }
    /// Whether the ranks must now ask each other. Equal on all ranks.
    bool due() const { return done_ >= next_; }
    /// Collective. Returns true once any rank has got a stop signal or passed the time limit.
    bool ask();
    /// Call after each unit: counts it, and asks if due.
    bool asked() {
        unit_done();
        return due() ? ask() : interrupted();
    }
    /// Call before units of another length: the ranks ask after the first of them.
    void restart() {
        last_asked_ = Clock::now();
        last_ = done_;
        next_ = done_ + 1;
    }

    // What the ranks agreed on when they last asked each other.
    bool interrupted() const { return signal_ != 0 || late_; }
    int signal() const { return signal_; }  ///< 0: none
    bool late() const { return late_; }     ///< the time limit is over

  private:
    using Clock = base::Clock;

    comm::Communicator& control_;
    std::optional<double> time_limit_s_;
    Clock::time_point start_ = Clock::now(), last_asked_ = start_;
    std::int64_t done_ = 0;
    std::int64_t last_ = 0;
    std::int64_t next_ = 1;
    int signal_ = 0;
    bool late_ = false;
};

/// Collective, before anything was measured. If a rank got a stop signal (`signal`: the one on
/// which the ranks agreed), throws base::Interrupted ("stopped by SIGTERM `where`") on the lowest
/// of these ranks, and comm::PeerError on the other ranks.
void stop_if_asked(comm::Communicator& control, const std::string& where,
                   int signal = base::StopSignals::received());

/// Marks a run that a signal ended: its first warning says where ("after 57 of 200 steps"), and its
/// exit code is 128 + the signal, unless a check failed. Does nothing for 0.
void mark_stopped(results::Run& run, int signal, const std::string& what_is_there);

/// Marks a run that a signal (0: none) ended, as mark_stopped() does, or that the time limit ended
/// (ExitCode::time_limit). `more` is appended to the warning of a signal.
void mark_early_end(results::Run& run, bool at_time_limit, int signal, const std::string& where,
                    const std::string& more = "");

/// The text of --target-ci, if it was given.
using TargetCi = std::optional<std::string>;

/// Returns the check for `target`. Without a target, checks are never due.
measure::Convergence convergence_of(const TargetCi& target, std::int64_t least);

/// Returns the most samples to measure: `least` without a target; with a target 20 times as many,
/// or any number if --time-limit ends the run.
std::int64_t most_samples(const TargetCi& target, bool has_time_limit, std::int64_t least);

/// Adds the table `convergence` with one row per check and the fact measuring.converged. If the
/// target was not reached although `least` samples were measured: adds a warning, and exit code 7
/// if the run has none. Does nothing without a target. The exit code is equal on all ranks.
void add_convergence(results::Run& run, const measure::Convergence& convergence,
                     const std::string& unit, std::int64_t least);

}  // namespace ranklab::experiments
