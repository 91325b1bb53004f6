// How often an experiment hands over what it has measured so far.
#pragma once

#include <chrono>
#include <functional>

#include "experiments/shared/experiment.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Says when the next hand-over is due: not before two seconds of work, and not before the work since the
/// last one took fifty times as long as that did, so that it costs no more than 2 %.
class KeepPace {
  public:
    using Clock = std::chrono::steady_clock;

    /// Rank 0's clock for all. Collective. Never where the surroundings keep nothing.
    bool due(const Surroundings& surroundings);
    /// Has `so_far` made (collective) and hands it over, where the surroundings keep anything.
    void keep(const Surroundings& surroundings, const std::function<results::Run()>& so_far);
    /// The same where it is due.
    void keep_if_due(const Surroundings& surroundings, const std::function<results::Run()>& so_far);

  private:
    Clock::time_point last_ = Clock::now();
    Clock::duration cost_{0};
};

}  // namespace ranklab::experiments
