// A model's parameters in a small HDF5 file, for comparing with other programs (upstream's --save-model).
#pragma once

#include <string>

#include "nn/model.hpp"

namespace ranklab::experiments {

/// Before the work starts: OptionError if the file's folder is missing or it is no file, EnvironmentError if
/// `model` could not be written there now (read-only, forbidden, full).
void check_parameter_file(const std::string& path, const nn::Model& model);

/// One float64 dataset per parameter, flattened row-major, under its name in the model ("conv1.weight"), with
/// its shape as the attribute "shape" ("32,1,3,3"). Written to a temporary file and renamed. EnvironmentError
/// if it cannot be.
void write_parameter_file(const std::string& path, const nn::Model& model);

}  // namespace ranklab::experiments
