// Ctrl-C, and the batch system's SIGTERM, as something that work can ask for between two pieces of it.
#pragma once

#include <csignal>

namespace ranklab::base {

/// From construction to destruction SIGINT and SIGTERM do not end the process: received() tells of them. A
/// second one ends it, as without this. One at a time in a process.
class StopSignals {
  public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;
    StopSignals(StopSignals&&) = delete;
    StopSignals& operator=(StopSignals&&) = delete;

    /// The signal's number; 0 so far.
    static int received();

  private:
    struct sigaction before_int_ {};
    struct sigaction before_term_ {};
};

}  // namespace ranklab::base
