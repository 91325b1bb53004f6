// The schedule of `ranklab io`: each round makes one repetition of every strategy, in random order,
// until each strategy has enough of them.
#pragma once

#include <vector>

#include "experiments/shared/experiment.hpp"
#include "experiments/storage/options.hpp"

namespace ranklab::experiments {

/// Makes the runs, one settled struct per strategy in ladder order, and for several strategies
/// their comparison. If a strategy fails, the other strategies go on; a signal ends all. A strategy
/// that ended before its first counted repetition has no run. Collective.
Runs run_schedule(const std::vector<StorageOptions>& settled, const RunContext& context);

}  // namespace ranklab::experiments
