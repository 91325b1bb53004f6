// The state of a training run in the HDF5 file of a checkpoint. Reading throws DataError or
// Hdf5Error if the file is another model's, and then leaves the state partly changed.
#pragma once

#include <ATen/core/Generator.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hdf5/file.hpp"
#include "nn/model.hpp"
#include "train/optimizer.hpp"

namespace ranklab::experiments {

/// Values of options ("--lr") and facts ("ranks") by name.
using CheckpointSettings = std::map<std::string, std::string>;

void write_settings(const hdf5::Group& root, const CheckpointSettings& settings);
/// Throws OptionError if settings differ; the message has their values in both runs.
void check_same_settings(const CheckpointSettings& now, const hdf5::Group& root);

/// Write and read parameters, buffers and the optimizer's state.
void write_training(const hdf5::Group& root, const nn::Model& model, train::Optimizer& optimizer);
void read_training(const hdf5::Group& root, nn::Model& model, train::Optimizer& optimizer);

/// A state of one rank, such as a random generator, as bytes. `load` throws DataError for bytes
/// that `save` did not make.
struct RankState {
    std::string name;
    std::function<std::string()> save;
    std::function<void(const std::string&)> load;
};
/// The bytes of each rank's states, in the states' order.
using RankBytes = std::vector<std::vector<std::string>>;

/// The state of `generator`, which the RankState shares.
RankState generator_state(const std::string& name, const at::Generator& generator);

void write_ranks(const hdf5::Group& root, const std::vector<RankState>& states,
                 const RankBytes& by_rank);
RankBytes read_ranks(const hdf5::Group& root, const std::vector<RankState>& states, int ranks);

}  // namespace ranklab::experiments
