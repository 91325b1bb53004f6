// Ends a job in which nothing moves any more.
#pragma once

#include "app/stall_clock.hpp"
#include "app/terminal.hpp"
#include "base/motion_sensor.hpp"
#include "base/ticker.hpp"
#include "comm/lifeline.hpp"

namespace ranklab::app {

/// Ends the job (exit code 5, MPI_Abort) when no rank has made progress for `seconds`, where progress is what
/// base::MotionSensor sees. A rank that waits for one that works is told so by the lifeline. Rank 0 knows of
/// all and speaks; the others do where it does not answer. docs/adr/0010-what-moves.md
class Watchdog {
  public:
    Watchdog(const TerminalProgress& progress, double seconds, comm::Lifeline& lifeline, int rank);

  private:
    void tick(double seconds);

    const TerminalProgress& progress_;
    double seconds_;
    comm::Lifeline& lifeline_;
    int rank_;
    base::MotionSensor sensor_;
    StallClock clock_;
    base::Ticker ticker_;  // last: it uses the others
};

}  // namespace ranklab::app
