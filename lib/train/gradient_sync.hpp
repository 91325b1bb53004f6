// How the ranks' gradients become one. Strategies swap freely: one file in sync/ and one word in CMake each.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace ranklab::train {

class GradientSync {
  public:
    virtual ~GradientSync() = default;

    /// Once, before the first step. The tensors share storage with the model's.
    virtual void attach(std::vector<torch::Tensor> parameters) = 0;
    /// Before each backward: gradients are empty or zero after it. With sync = false, which accumulates, they
    /// stay.
    virtual void begin_step(bool sync) = 0;
    /// After backward: when it returns, every parameter's gradient is the sum over ranks. The trainer has
    /// weighted each rank's loss by its share of the global batch, so that the sum is the mean over all
    /// samples.
    virtual void finish() = 0;
};

struct SyncEntry {
    std::string name;
    std::string summary;
    /// False for a strategy that lets the ranks drift apart: parameters are then not compared.
    bool keeps_ranks_equal = true;
    std::function<std::unique_ptr<GradientSync>(comm::Communicator& data_plane)> make;
};

/// Generated: all strategies, in CMake's order.
std::vector<SyncEntry> gradient_syncs();

/// Makes every parameter's gradient undefined, so that the next backward moves its result in without adding.
void drop_gradients(const std::vector<torch::Tensor>& parameters);
/// An undefined gradient (unused parameter, empty batch) becomes zeros: all ranks must take part.
void define_gradients(const std::vector<torch::Tensor>& parameters);

}  // namespace ranklab::train
