// One training run, from its settled options to what is stored of it.
#pragma once

#include "experiments/shared/experiment.hpp"
#include "experiments/training/options.hpp"

namespace ranklab::experiments {

/// Collective. What the number of samples decides (the warm-up of epochs, the length of a cosine), and the
/// memory format, it settles in the context's options.
results::Run make_training_run(TrainingOptions options, const RunContext& around);

}  // namespace ranklab::experiments
