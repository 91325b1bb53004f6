// Makes the training state (parameters, buffers, optimizer) equal on all ranks, compares it between
// ranks, and saves and restores parts of it.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "nn/model.hpp"
#include "train/optimizer.hpp"
#include "train/precision.hpp"

namespace ranklab::train {

/// A 64-bit FNV-1a hash of the tensors' values in logical order, whatever their strides and device.
std::uint64_t hash_of(const std::vector<torch::Tensor>& tensors);

/// The parameters that require gradients and have elements, each once, in order of registration.
std::vector<torch::Tensor> trained_parameters(const nn::Model& model);
/// The names of trained_parameters(), in their order.
std::vector<std::string> trained_parameter_names(const nn::Model& model);

/// The model's parameters, then its buffers.
std::vector<torch::Tensor> state_of(const nn::Model& model);
/// Broadcasts rank 0's parameters and buffers.
void broadcast_parameters(nn::Model& model, comm::Communicator& comm);

/// Collective over `control`. Compares the ranks' parameters, and buffers if asked for, by a hash.
/// Returns, on all ranks, "" or "first in 'fc1.bias', on rank 1 compared with rank 0".
std::string difference_of_ranks(const nn::Model& model, bool with_buffers,
                                comm::Communicator& control);

/// Collective. Copies rank 0's state to all ranks: parameters, buffers, the scaler's scale and
/// counts, and the optimizer's state. Creates optimizer state that a rank lacks: SGD creates a
/// momentum buffer at a parameter's first step, which a scaler may skip on one rank. Copies no
/// gradients and no random generators, which stay different on each rank. `scaler` is null on all
/// ranks or on none.
void take_state_of_rank_0(nn::Model& model, Optimizer& optimizer, GradScaler* scaler,
                          comm::Communicator& control);

/// Keeps a model's buffers (BatchNorm's running statistics) equal to rank 0's.
class BufferSync {
  public:
    /// Keeps references to the model's buffers and to `comm`.
    BufferSync(const nn::Model& model, comm::Communicator& comm)
        : comm_(comm), buffers_(model.buffers()) {}
    /// Broadcasts rank 0's buffers in pieces of one element type each, as DistributedDataParallel
    /// does before each forward.
    void broadcast();

  private:
    comm::Communicator& comm_;
    std::vector<torch::Tensor> buffers_;
};

/// The generators that a model on `device` draws from: torch's default ones of the CPU and of the
/// device.
std::vector<at::Generator> default_generators(torch::Device device);

class StateSnapshot {
  public:
    /// Saves the model's buffers and the states of `generators`.
    StateSnapshot(const nn::Model& model, std::vector<at::Generator> generators);
    /// Restores the saved state. May be called repeatedly.
    void operator()();

  private:
    std::vector<torch::Tensor> buffers_;
    std::vector<torch::Tensor> values_;
    std::vector<at::Generator> generators_;
    std::vector<torch::Tensor> states_;
};

}  // namespace ranklab::train
