// Ends a process that comes no further while MPI starts, before there is a lifeline that knows of the others.
#pragma once

#include <atomic>

#include "base/deadline.hpp"

namespace ranklab::app {

class StartClock {
  public:
    /// From now on; `seconds` is what the user allows a job without progress. A crowded machine starts
    /// slowly: `shortest` at least.
    explicit StartClock(double seconds, double shortest = kShortest);

    /// What the start is at: "MPI_Init".
    void comes_to(const char* what) { what_ = what; }

    static constexpr double kShortest = 60;

  private:
    double limit_;
    std::atomic<const char*> what_ = "MPI_Init";
    base::Deadline deadline_;  // last: it uses the others
};

}  // namespace ranklab::app
