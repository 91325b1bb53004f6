// Why and where the steps of a run end. Equal on all ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "comm/communicator.hpp"
#include "experiments/shared/stop_poll.hpp"

namespace ranklab::experiments {

class RunEnd {
  public:
    RunEnd(comm::Communicator& control, std::optional<double> time_limit_s)
        : stop(control), control_(control), time_limit_s_(time_limit_s) {}

    /// The time limit counts from now on.
    void start_clock() { start_ = base::Clock::now(); }
    double seconds() const { return base::seconds_since(start_); }

    /// Collective. Returns true if the time limit is over or any rank got a stop signal.
    bool ask();
    bool interrupted() const { return late || stop.signal() != 0; }

    /// Whether the ranks agree after the present step.
    bool due() const { return wanted_ || stop.due(); }
    /// Makes the ranks agree after the present step; called on all of them.
    void agree_now() { wanted_ = true; }
    void agreed() { wanted_ = false; }

    StopPoll stop;
    bool failed = false;  ///< a check failed: nothing was measured that counts
    bool late = false;    ///< the time limit is over
    bool enough = false;  ///< --target-ci has its interval, or its time is over

    // Set if the run ended before its planned steps:
    bool at_time_limit = false;
    int signal = 0;               ///< SIGTERM, SIGINT ...
    std::string missing;          ///< work left undone, after "before": "the evaluation was made"
    bool has_checkpoint = false;  ///< of the last step

  private:
    comm::Communicator& control_;
    std::optional<double> time_limit_s_;
    base::Clock::time_point start_ = base::Clock::now();
    bool wanted_ = false;
};

}  // namespace ranklab::experiments
