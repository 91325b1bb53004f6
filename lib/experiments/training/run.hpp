// One training run, from its settled options to what is stored of it.
#pragma once

#include "experiments/shared/experiment.hpp"
#include "experiments/training/options.hpp"

namespace ranklab::experiments {

/// Collective. What the number of samples decides (the warm-up of epochs, the length of a cosine), and the
/// memory format, it settles in the context's options.
results::Run make_training_run(TrainingOptions options, const RunContext& around);

/// For a dry run, on rank 0. Makes the model and one backward of two random samples on the CPU, by which
/// the strategy settles its buckets, and writes what a step then reduces to --buckets. OptionError or
/// EnvironmentError where the place will not take it, before that work.
void write_bucket_file(const TrainingOptions& options);

}  // namespace ranklab::experiments
