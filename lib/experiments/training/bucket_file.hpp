// The table of gradient buckets that a dry run writes (--buckets): which reductions a training step makes.
#pragma once

#include "experiments/training/options.hpp"

namespace ranklab::experiments {

/// Rank 0 alone. Makes the model and one backward of two random samples on the CPU, by which the strategy
/// settles its buckets, and writes what a step then reduces to --buckets. OptionError or EnvironmentError
/// where the place will not take it, before any work where that can be seen.
void write_bucket_file(const TrainingOptions& options);

}  // namespace ranklab::experiments
