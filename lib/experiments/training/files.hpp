// Files that a training run writes besides the results file.
#pragma once

#include <string>

#include "experiments/training/options.hpp"
#include "nn/model.hpp"

namespace ranklab::experiments {

/// To be called before the work: OptionError if the file's folder is missing or it is not a file,
/// EnvironmentError if `model` could not be written there now (read-only, forbidden, full).
void check_parameter_file(const std::string& path, const nn::Model& model);

/// A small HDF5 file for comparing with other programs (upstream's --save-model): one float64
/// dataset per parameter, flattened row-major, under its name in the model ("conv1.weight"), with
/// its shape as the attribute "shape" ("32,1,3,3"). Written to a temporary file and renamed.
/// EnvironmentError if it cannot be.
void write_parameter_file(const std::string& path, const nn::Model& model);

/// For a dry run, on rank 0. Makes the model and one backward of two random samples on the CPU, by
/// which the strategy settles its buckets, and writes what a step then reduces to --buckets.
/// OptionError or EnvironmentError, before that work, where the file cannot be written.
void write_bucket_file(const TrainingOptions& options);

}  // namespace ranklab::experiments
