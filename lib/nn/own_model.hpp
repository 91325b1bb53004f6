// A user's own network: TorchScript in a file that torch.jit.save wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/model.hpp"

namespace ranklab::nn {

/// Options of a network from a file.
struct ScriptRequest {
    std::string path;
    InputShape input;
    std::string loss;                    ///< cross-entropy, nll, mse or l1
    torch::Dtype dtype = torch::kFloat;  ///< of parameters and floating-point inputs in the run
};

/// An entry named after the file's stem; each call of `make` loads the file.
ModelEntry script_entry(const ScriptRequest& request);

/// Throws DataError if the file cannot be read.
void check_readable(const std::string& path);

/// Trains the network with two samples. Throws OptionError unless it takes the input's shape,
/// returns the target's (scores [N, classes, target] or [N, target, classes]) and has dense
/// gradients; DataError if the file is damaged or not TorchScript.
void check_script(const ScriptRequest& request);

/// A hash of the code and of the parameters' names and shapes, not of their values.
std::string structure_hash(const std::string& path);

/// `count` samples of random normal numbers of type `dtype`; all 0 if the input is int64.
torch::Tensor sample_input(const InputShape& shape, std::int64_t count, torch::Dtype dtype);

}  // namespace ranklab::nn
