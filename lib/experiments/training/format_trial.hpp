// The memory format of a run by a short trial of both.
#pragma once

#include "experiments/shared/experiment.hpp"
#include "experiments/training/options.hpp"

namespace ranklab::experiments {

/// Collective; the same on all ranks but for what the trial took and left on each. It has a model, a batch
/// and gradients of its own and makes no optimizer's step; it draws from LibTorch's default generators.
/// `samples`: of the training, on all ranks.
FormatChoice trial_choice(const TrainingOptions& options, const RunContext& around, std::int64_t samples,
                          torch::Device device);

}  // namespace ranklab::experiments
