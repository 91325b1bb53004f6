// A model's parameters in a small HDF5 file, for comparing with other programs (upstream's --save-model).
#pragma once

#include <string>

#include "nn/model.hpp"

namespace ranklab::experiments {

/// Throws OptionError before the work starts if the file could not be made: its folder is missing, or it is a
/// folder.
void check_parameter_file(const std::string& path);

/// One float64 dataset per parameter, flattened row-major, under its name in the model ("conv1.weight"), with
/// its shape as the attribute "shape" ("32,1,3,3"). Written to a temporary file and renamed.
void write_parameter_file(const std::string& path, const nn::Model& model);

}  // namespace ranklab::experiments
