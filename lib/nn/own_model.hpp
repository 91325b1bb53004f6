// A user's own network as a Model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/model.hpp"
#include "nn/own_network.hpp"

namespace ranklab::nn {

/// Options of a network from a file.
struct OwnRequest {
    std::string model;  ///< of nn/own_network.hpp: PATH.pt, PATH.py or PATH.py:NAME
    InputShape input;
    std::string loss;                    ///< cross-entropy, nll, mse or l1; "": the file's own
    torch::Dtype dtype = torch::kFloat;  ///< of parameters and floating-point inputs in the run
};

/// An entry named after the file's stem; each call of `make` makes another network.
ModelEntry own_entry(const OwnRequest& request);

/// Trains the network with two samples. Throws OptionError unless it takes the input's shape,
/// returns the target's (scores [N, classes, target] or [N, target, classes]) and has dense
/// gradients; the errors of open_own.
OwnTraits check_own(const OwnRequest& request);

/// A hash of the code and of the parameters' names and shapes, not of their values.
std::string structure_hash(const std::string& model);

/// `count` samples of random normal numbers of type `dtype`; all 0 if the input is int64.
torch::Tensor sample_input(const InputShape& shape, std::int64_t count, torch::Dtype dtype);

}  // namespace ranklab::nn
