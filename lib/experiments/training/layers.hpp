// --profile layers: the table of layers, and what this machine could do at most.
#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "comm/communicator.hpp"
#include "results/run.hpp"
#include "train/layer_profile.hpp"

namespace ranklab::experiments {

/// The layers' sums on this rank, in the order of their first use; empty without --profile layers.
struct ProfiledLayers {
    std::vector<train::LayerTimes> layers;
    std::int64_t batches = 0;
};

/// The table `layers`: means over batches and ranks. Collective. Measures a matrix product and a
/// triad of that type there, on all ranks at once: the roof.
void add_layers(results::Run& run, const ProfiledLayers& profiled, torch::TensorOptions type,
                comm::Communicator& control);

}  // namespace ranklab::experiments
