// Between what trains and what a checkpoint holds.
#pragma once

#include <ATen/core/Generator.h>

#include <functional>
#include <string>
#include <vector>

#include "experiments/training/checkpoint_file.hpp"
#include "nn/model.hpp"
#include "train/optimizer.hpp"

namespace ranklab::experiments {

/// One rank's own state, such as a random generator's, as bytes. `load` throws DataError for bytes
/// that `save` did not make.
struct RankState {
    std::string name;
    std::function<std::string()> save;
    std::function<void(const std::string&)> load;
};

/// A random generator's; it shares the generator.
RankState generator_state(const std::string& name, const at::Generator& generator);

/// LibTorch's generator of this process for the CPU: dropout's, among others.
RankState torch_cpu_generator();

/// Parameters, buffers and the optimizer's state into `checkpoint`, on rank 0's side.
void put_training(Checkpoint& checkpoint, const nn::Model& model, train::Optimizer& optimizer);

/// Puts the checkpoint's state back. DataError where it is of another model; earlier changes are
/// not undone.
void take_training(const Checkpoint& checkpoint, nn::Model& model, train::Optimizer& optimizer);

/// The states of rank `rank`, which have to be those in `states`, by name and number.
void take_rank(const Checkpoint& checkpoint, int rank, const std::vector<RankState>& states);

/// `by_rank[r]` as an array of the checkpoint, for rank r.
void put_rank_state(Checkpoint& checkpoint, const std::string& name,
                    const std::vector<std::string>& by_rank);

}  // namespace ranklab::experiments
