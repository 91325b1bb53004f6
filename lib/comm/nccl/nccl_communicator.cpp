#include "comm/nccl/nccl_communicator.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/error.hpp"
#include "base/handle.hpp"
#include "base/log.hpp"
#include "comm/backend.hpp"

namespace ranklab::comm {
namespace {

void need_device(const BufferView& buffer) {
    if (buffer.memory == Memory::device) return;
    throw base::NcclError("backend nccl works in GPU memory, and this rank computes on the CPU",
                          {"device cuda", "backend mpi"});
}

void need_root(int root, int ranks) {
    if (root >= 0 && root < ranks) return;
    throw base::NcclError(
        fmt::format("internal: a broadcast from rank {} of {} ranks", root, ranks));
}

class NcclRequest final : public Request::State, base::Immovable {
  public:
    explicit NcclRequest(std::shared_ptr<NcclChannel> channel)
        : channel_(std::move(channel)), end_(channel_->mark()) {}
    ~NcclRequest() override {
        try {
            if (!ordered_) channel_->order_compute_after(end_);
            channel_->recycle(std::move(end_));
        } catch (const std::exception& error) {
            base::log::warn(fmt::format("while a request was destroyed: {}", error.what()));
        }
    }

    void wait() override {
        ordered_ = true;  // even if the call throws, so that the destructor does not warn again
        channel_->order_compute_after(end_);
    }
    bool test() override {
        if (!channel_->done(end_)) return false;
        ordered_ = true;
        return true;
    }

  private:
    std::shared_ptr<NcclChannel> channel_;
    device::Event end_;
    bool ordered_ = false;
};

}  // namespace

NcclCommunicator::NcclCommunicator(std::shared_ptr<NcclChannel> channel,
                                   std::unique_ptr<Communicator> control)
    : control_(std::move(control)), channel_(std::move(channel)), scratch_(1) {}

Request NcclCommunicator::started() {
    return Request(std::make_unique<NcclRequest>(channel_));
}

void NcclCommunicator::barrier() {
    allreduce({.data = scratch_.data(), .count = 1, .dtype = DType::u8, .memory = Memory::device},
              ReduceOp::max);
    synchronize();
}

void NcclCommunicator::broadcast(BufferView buffer, int root) {
    need_root(root, world_size());
    need_device(buffer);
    if (buffer.count == 0) return;
    start("ncclBroadcast", [&](const auto& nccl, auto comm, auto stream) {
        return nccl.broadcast(buffer.data, buffer.data, buffer.count, nccl_type(buffer.dtype), root,
                              comm, stream);
    }).wait();
}

void NcclCommunicator::allreduce(BufferView buffer, ReduceOp op) {
    start_allreduce(buffer, op).wait();
}

Request NcclCommunicator::start_allreduce(BufferView buffer, ReduceOp op) {
    need_device(buffer);
    if (buffer.count == 0) return {};
    return start("ncclAllReduce", [&](const auto& nccl, auto comm, auto stream) {
        return nccl.all_reduce(buffer.data, buffer.data, buffer.count, nccl_type(buffer.dtype),
                               nccl_op(op), comm, stream);
    });
}

void NcclCommunicator::allgather(BufferView send, BufferView receive) {
    need_device(send);
    need_device(receive);
    need_whole_of_parts(send, receive, world_size(), "allgather");
    if (send.count == 0) return;
    start("ncclAllGather", [&](const auto& nccl, auto comm, auto stream) {
        return nccl.all_gather(send.data, receive.data, send.count, nccl_type(send.dtype), comm,
                               stream);
    }).wait();
}

void NcclCommunicator::reduce_scatter(BufferView send, BufferView receive, ReduceOp op) {
    need_device(send);
    need_device(receive);
    need_whole_of_parts(receive, send, world_size(), "reduce_scatter");
    if (receive.count == 0) return;
    start("ncclReduceScatter", [&](const auto& nccl, auto comm, auto stream) {
        return nccl.reduce_scatter(send.data, receive.data, receive.count, nccl_type(send.dtype),
                                   nccl_op(op), comm, stream);
    }).wait();
}

std::unique_ptr<Communicator> NcclCommunicator::split(int color, int key) {
    auto control = control_->split(color, key);
    auto channel = channel_->split(
        color, key, {.rank = control->rank(), .ranks = control->world_size(), .gpu = 0});
    return std::make_unique<NcclCommunicator>(std::move(channel), std::move(control));
}

}  // namespace ranklab::comm
