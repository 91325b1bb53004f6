// Ctrl-C, the batch system's SIGTERM and its warning before it (SIGUSR1), and a lost terminal's
// SIGHUP, as something that work can ask for between two pieces of it.
#pragma once

#include <csignal>
#include <string>

#include "base/handle.hpp"

namespace ranklab::base {

/// Signals that ask all processes of a group or job step to stop.
inline constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/// While it lives this thread, and threads that it starts, take none of kStopSignals: they wait.
class StopSignalsBlocked : Pinned {
  public:
    StopSignalsBlocked();
    ~StopSignalsBlocked();

  private:
    sigset_t before_;
};

/// As scripts ask for it: "SIGTERM".
std::string signal_name(int signal);

/// From construction to destruction none of kStopSignals ends the process (SIGHUP is left alone
/// where it is ignored: nohup); received() tells of them. A second SIGINT or SIGTERM does what it
/// does without this; SIGUSR1 and SIGUSR2, which batch systems send before the time is up, are a
/// wish however often they come. A process has one at a time.
class StopSignals : Pinned {
  public:
    StopSignals();
    ~StopSignals();

    /// The signal's number; 0 so far.
    static int received();
    /// The work ends as was wished: received() is 0 again.
    static void follow();
    /// "SIGTERM", "SIGHUP", "SIGUSR1", "Ctrl-C (SIGINT)".
    static std::string name_of(int signal);

    /// From now on SIGUSR1 and SIGUSR2 do not end the process where there is no object, either: the
    /// next one tells of them. At the start of a program whose work asks.
    static void note_warnings();
};

}  // namespace ranklab::base
