// Signals that work polls between two pieces: Ctrl-C, the batch system's SIGTERM and its warning
// before it (SIGUSR1), and a lost terminal's SIGHUP.
#pragma once

#include <csignal>
#include <string>

#include "base/handle.hpp"

namespace ranklab::base {

/// Signals that ask all processes of a group or job step to stop.
inline constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/// While it lives this thread, and threads that it starts, take none of kStopSignals: they wait.
class StopSignalsBlocked : Immovable {
  public:
    StopSignalsBlocked();
    ~StopSignalsBlocked();

  private:
    sigset_t before_;
};

/// As scripts ask for it: "SIGTERM".
std::string signal_name(int signal);

/// From construction to destruction none of kStopSignals ends the process (SIGHUP is left alone
/// where it is ignored: nohup); received() returns them. A second SIGINT or SIGTERM acts as without
/// this object; SIGUSR1 and SIGUSR2, which batch systems send before the time is up, never end the
/// process. A process has one object at a time.
class StopSignals : Immovable {
  public:
    StopSignals();
    ~StopSignals();

    /// The signal's number; 0 so far.
    static int received();
    /// The work ends as was wished: received() is 0 again.
    static void acknowledge();
    /// "SIGTERM", "SIGHUP", "SIGUSR1", "Ctrl-C (SIGINT)".
    static std::string name_of(int signal);

    /// From now on SIGUSR1 and SIGUSR2 do not end the process without an object either: the next
    /// object reports them. For the start of a program whose work polls.
    static void note_warnings();
};

}  // namespace ranklab::base
