// A user's own network: TorchScript from a file of torch.jit.save.
#pragma once

#include <cstdint>
#include <string>

#include "nn/model.hpp"

namespace ranklab::nn {

/// Options of a network from a file.
struct ScriptRequest {
    std::string path;
    InputShape input;
    std::string loss;  ///< cross-entropy, nll, mse or l1
};

/// Its `make` reads the file anew. The name is the file's stem.
ModelEntry script_entry(const ScriptRequest& request);

/// Computes two samples. OptionError, naming options, unless the network takes
/// the input's shape, answers with the target's, and has parameters to train; DataError for a file
/// that is not TorchScript.
void check_script(const ScriptRequest& request);

/// A hash of the code and of the parameters' names and shapes, not of their values.
std::string structure_hash(const std::string& path);

/// `count` samples: normal numbers of that type, and tokens 0.
torch::Tensor sample_input(const InputShape& shape, std::int64_t count, torch::Dtype dtype);

}  // namespace ranklab::nn
