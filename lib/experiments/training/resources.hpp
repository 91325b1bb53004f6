// What a training run takes of its machine, before it takes it.
#pragma once

#include "experiments/shared/experiment.hpp"
#include "experiments/training/options.hpp"

namespace ranklab::experiments {

int compute_threads(const TrainingOptions& options);

/// OptionError or EnvironmentError where memory or threads will not do. Collective.
void check_resources(const TrainingOptions& options, const RunContext& around);

}  // namespace ranklab::experiments
