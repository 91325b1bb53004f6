// --buckets: what a step sums, as a file.
#pragma once

#include "experiments/training/options.hpp"

namespace ranklab::experiments {

/// For a dry run, on rank 0. Computes one backward of two random samples on the CPU, by which the
/// strategy finds its buckets, and writes them to the file of --buckets. Throws OptionError or
/// EnvironmentError before that work if the file cannot be written.
void write_bucket_file(const TrainingOptions& options);

}  // namespace ranklab::experiments
