// The NCCL backend's communicator. Private to comm: it shows nccl.h.
#pragma once

#include <memory>
#include <string>

#include "comm/communicator.hpp"
#include "comm/nccl/channel.hpp"
#include "device/memory.hpp"

namespace ranklab::comm {

class NcclCommunicator final : public Communicator {
  public:
    /// `control` has the same ranks as `channel`, in host memory, and is used for nothing else.
    NcclCommunicator(std::shared_ptr<NcclChannel> channel, std::unique_ptr<Communicator> control);

    int rank() const override { return control_->rank(); }
    int world_size() const override { return control_->world_size(); }
    int local_rank() const override { return control_->local_rank(); }
    int local_size() const override { return control_->local_size(); }
    std::string backend() const override { return "nccl"; }

    void barrier() override;
    void broadcast(BufferView buffer, int root) override;
    void broadcast_all(std::span<const BufferView> buffers, int root) override;
    void allreduce(BufferView buffer, ReduceOp op) override;
    Request start_allreduce(BufferView buffer, ReduceOp op) override;
    void allgather(BufferView send, BufferView receive) override;
    void reduce_scatter(BufferView send, BufferView receive, ReduceOp op) override;
    std::unique_ptr<Communicator> split(int color, int key) override;
    void synchronize() override { channel_->synchronize(); }

    /// What `put` enqueues, as NcclChannel::enqueue says.
    template <class Put>
    Request start(const char* call, const Put& put) {
        channel_->enqueue(call, put);
        return started();
    }

  private:
    Request started();

    std::unique_ptr<Communicator> control_;
    std::shared_ptr<NcclChannel> channel_;  // requests under way hold it too
    device::Buffer scratch_;                // what a barrier reduces
};

}  // namespace ranklab::comm
