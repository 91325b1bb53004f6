// Converts the state of a training to the arrays of a checkpoint and back.
#pragma once

#include <ATen/core/Generator.h>

#include <functional>
#include <string>
#include <vector>

#include "experiments/training/checkpoint_file.hpp"
#include "nn/model.hpp"
#include "train/optimizer.hpp"

namespace ranklab::experiments {

/// A state of one rank, such as a random generator, as bytes. `load` throws DataError for bytes
/// that `save` did not make.
struct RankState {
    std::string name;
    std::function<std::string()> save;
    std::function<void(const std::string&)> load;
};

/// The state of a random generator, which it shares.
RankState generator_state(const std::string& name, const at::Generator& generator);

/// The state of LibTorch's CPU generator, which draws dropout.
RankState torch_cpu_generator();

/// Copies parameters, buffers and the optimizer's state into `checkpoint`.
void put_training(Checkpoint& checkpoint, const nn::Model& model, train::Optimizer& optimizer);

/// Copies the checkpoint's state back. Throws DataError if it is another model's, and then leaves
/// the model partly changed.
void take_training(const Checkpoint& checkpoint, nn::Model& model, train::Optimizer& optimizer);

/// Loads the states of rank `rank`. Throws DataError if the checkpoint has other names or another
/// number of them.
void take_rank(const Checkpoint& checkpoint, int rank, const std::vector<RankState>& states);

/// Adds by_rank[r] as an array of rank r.
void put_rank_state(Checkpoint& checkpoint, const std::string& name,
                    const std::vector<std::string>& by_rank);

}  // namespace ranklab::experiments
