// Makes the trials of an ablation with a training run's steps.
#pragma once

#include <functional>
#include <vector>

#include "experiments/training/ablation.hpp"
#include "experiments/training/steps.hpp"

namespace ranklab::experiments {

struct AblationPlan {
    std::int64_t steps = 20;  ///< of a trial; one more comes first and is not timed
    std::int64_t trials = 3;  ///< of each kind
    std::int64_t warmup = 1;  ///< trials of each kind that are not kept
    std::uint64_t seed = 1;   ///< of the order within a round
};

/// Rounds of all kinds of trials, each round in another order, the same on all ranks; each that is whole goes
/// to `take`. Where a rank is told to stop, no more. At the end the ranks' training states are equal, if they
/// were. Collective, and `take` is called by all ranks.
void make_trials(TrainingSteps& steps, const AblationPlan& plan, comm::Communicator& control,
                 base::ProgressSink& progress, StopPoll& stop,
                 const std::function<void(std::vector<TrialTimes> round)>& take);

}  // namespace ranklab::experiments
