// Settles the memory format of a run: by its checkpoint, or by a short trial of both formats.
#pragma once

#include "experiments/shared/experiment.hpp"
#include "experiments/training/options.hpp"

namespace ranklab::experiments {

/// Collective; nothing where the format is settled. Before the run's model is made: the trial has a model, a
/// batch and gradients of its own and makes no optimizer's step, and the random generators are seeded when
/// the run's model is made, so that the run is the same as without it. All ranks take one format, of the
/// slowest rank's times. `samples`: of the training, on all ranks.
void take_format(TrainingOptions& options, const Surroundings& around, std::int64_t samples,
                 torch::Device device, FormatTrials& trials);

}  // namespace ranklab::experiments
