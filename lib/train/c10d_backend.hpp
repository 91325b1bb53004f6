// Our communicator as PyTorch's c10d sees one. Private to train: it shows c10d's headers.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "comm/communicator.hpp"
#include "train/reduction_queue.hpp"

namespace ranklab::train {

/// What c10d::Reducer asks of a process group: allreduce (asynchronous, through `queue`) and broadcast.
class C10dBackend final : public c10d::Backend {
  public:
    C10dBackend(comm::Communicator& comm, ReductionQueue& queue);

    const std::string getBackendName() const override { return "ranklab"; }
    c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                             const c10d::AllreduceOptions& options) override;
    c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                             const c10d::BroadcastOptions& options) override;

  private:
    comm::Communicator& comm_;
    ReductionQueue& queue_;
};

/// A process group over `comm` for tensors in host memory; `comm` and `queue` must outlive it.
c10::intrusive_ptr<c10d::ProcessGroup> make_process_group(comm::Communicator& comm, ReductionQueue& queue);

}  // namespace ranklab::train
