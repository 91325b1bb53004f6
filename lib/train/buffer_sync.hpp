// A model's buffers (BatchNorm's running statistics) as rank 0 has them.
#pragma once

#include <torch/types.h>

#include <vector>

#include "comm/communicator.hpp"
#include "nn/model.hpp"

namespace ranklab::train {

class BufferSync {
  public:
    /// Keeps references to the model's buffers and to `comm`.
    BufferSync(const nn::Model& model, comm::Communicator& comm);
    /// Rank 0's, on every rank: one broadcast per element type. As DistributedDataParallel before each
    /// forward.
    void broadcast();

  private:
    struct Group {
        std::vector<torch::Tensor> buffers;
        torch::Tensor flat;
    };
    comm::Communicator& comm_;
    std::vector<Group> groups_;
};

}  // namespace ranklab::train
