// Stop signals, which the work polls between two pieces of work: Ctrl-C, the batch system's
// SIGTERM and its earlier warning (SIGUSR1), and SIGHUP of a lost terminal.
#pragma once

#include <csignal>
#include <string>

#include "base/handle.hpp"

namespace ranklab::base {

/// Signals that ask all processes of a group or job step to stop.
inline constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/// Blocks kStopSignals on this thread, and on threads that it starts, while the object lives.
/// Blocked signals stay pending.
class StopSignalsBlocked : Immovable {
  public:
    StopSignalsBlocked();
    ~StopSignalsBlocked();

  private:
    sigset_t before_;
};

/// "SIGTERM"; "signal 40" for other signals.
std::string signal_name(int signal);

/// While the object lives, kStopSignals do not end the process: received() reports them. A second
/// SIGINT or SIGTERM ends the process. SIGUSR1 and SIGUSR2, which batch systems send before the
/// time limit, never end the process. SIGHUP stays ignored under nohup. A process has one object at
/// a time.
class StopSignals : Immovable {
  public:
    StopSignals();
    ~StopSignals();

    /// The number of the signal that came; 0 if none did.
    static int received();
    /// Acknowledges the signal: received() returns 0 again.
    static void acknowledge();
    /// "SIGTERM", "SIGHUP", "SIGUSR1", "Ctrl-C (SIGINT)".
    static std::string name_of(int signal);

    /// Keeps SIGUSR1 and SIGUSR2 from ending the process while no object lives: the next object
    /// reports them. To be called at the start of a program.
    static void note_warnings();
};

}  // namespace ranklab::base
