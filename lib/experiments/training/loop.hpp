// The loop of a training run: begin, step, agree, end.
#pragma once

#include <memory>
#include <vector>

#include "experiments/training/observer.hpp"
#include "train/lr_schedule.hpp"

namespace ranklab::experiments {

class TrainingLoop {
  public:
    /// Collective. Gives all ranks one state, rank 0's or the checkpoint's, and makes the
    /// observers, some of which check that state: if a check fails, `observed.end.failed` is true.
    explicit TrainingLoop(ObservedRun& observed);

    /// Makes the planned steps, until an observer ends the run. Collective.
    void run();
    /// Ends the observers, which may change the parameters. Collective.
    void end();
    /// Adds all checks and measurements. Collective.
    void fill(results::Run& run) const;

  private:
    void begin_counting();
    void make_step(std::int64_t step);
    bool goes_on(const MadeStep& made);

    ObservedRun& observed_;
    std::vector<std::unique_ptr<StepObserver>> observers_;
    train::LrSchedule rates_;
    std::int64_t updates_;  // optimizer steps so far, with those of resumed runs
};

}  // namespace ranklab::experiments
