// Training states: all ranks' made equal and compared; one rank's put back (Rewind).
#pragma once

#include <ATen/core/Generator.h>
#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "comm/communicator.hpp"
#include "nn/model.hpp"
#include "train/optimizer.hpp"
#include "train/precision.hpp"

namespace ranklab::train {

/// A 64-bit hash of the tensors' bytes in their order (FNV-1a), for any strides and device.
std::uint64_t hash_of(const std::vector<torch::Tensor>& tensors);

/// The model's parameters, then its buffers.
std::vector<torch::Tensor> state_of(const nn::Model& model);
/// Rank 0's parameters and buffers, on every rank.
void broadcast_parameters(nn::Model& model, comm::Communicator& comm);

/// Collective over `control`. Throws VerificationError on every rank, naming the first rank whose
/// parameters differ from rank 0's in number, shape or type.
void agree_on_parameters(const std::vector<torch::Tensor>& parameters, comm::Communicator& control);

/// Copies rank 0's state to every rank: parameters, buffers, the optimizer's state (which may lack
/// tensors: SGD's momentum is made at a parameter's first step, which a scaler may skip on one
/// rank), the scaler's scale and counts. `scaler` is null where the loss is not scaled, on all
/// ranks. Random generators stay each rank's own, as they are from the start; gradients are made
/// anew in the next step. Collective.
void take_state_of_rank_0(nn::Model& model, Optimizer& optimizer, GradScaler* scaler,
                          comm::Communicator& control);

/// A model's buffers (BatchNorm's running statistics) as rank 0 has them.
class BufferSync {
  public:
    /// Keeps references to the model's buffers and to `comm`.
    BufferSync(const nn::Model& model, comm::Communicator& comm);
    /// Copies rank 0's buffers to every rank by one broadcast per element type, as
    /// DistributedDataParallel does before each forward.
    void broadcast();

  private:
    struct Group {
        std::vector<torch::Tensor> buffers;
        torch::Tensor flat;
    };
    comm::Communicator& comm_;
    std::vector<Group> groups_;
};

/// The generators of a model on that device: torch's default ones of the CPU and of the device.
std::vector<at::Generator> default_generators(torch::Device device);

class StateSnapshot {
  public:
    /// Remembers the model's buffers (running statistics) and the states of the generators that it
    /// draws from.
    StateSnapshot(const nn::Model& model, std::vector<at::Generator> generators);
    /// Puts them back; as often as wanted.
    void operator()();

  private:
    std::vector<torch::Tensor> buffers_;
    std::vector<torch::Tensor> values_;
    std::vector<at::Generator> generators_;
    std::vector<torch::Tensor> states_;
};

}  // namespace ranklab::train
