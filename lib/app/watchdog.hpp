// Ends a job in which nothing moves any more.
#pragma once

#include <mutex>
#include <string>

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
    Watchdog(double seconds, comm::Lifeline& lifeline, int rank);

    double seconds() const { return seconds_; }
    /// Whose activity is named if the job stalls; nullptr where there is none, before and after the work.
    void name_activity_of(TerminalProgress* progress);

  private:
    void tick(double seconds);
    void look(double seconds);
    std::string activity();

    double seconds_;
    std::mutex mutex_;
    TerminalProgress* progress_ = nullptr;
    bool worked_ = false;
    comm::Lifeline& lifeline_;
    int rank_;
    base::MotionSensor sensor_;
    StallClock clock_;
    base::Ticker ticker_;  // last: it uses the others
};

}  // namespace ranklab::app
