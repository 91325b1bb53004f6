#include "comm/nccl/nccl_communicator.hpp"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "comm/backend.hpp"

namespace ranklab::comm {
namespace {

void need_device(const BufferView& buffer) {
    if (buffer.count == 0 || buffer.memory == Memory::device) return;
    throw base::NcclError("backend nccl works in GPU memory, and this rank computes on the CPU",
                          {"device cuda", "backend mpi"});
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

// An operation that this rank enqueues on a stream.
struct Call {
    const Transfer& transfer;
    int rank;
    int ranks;
    const NcclLibrary& nccl;
    ncclComm_t comm;
    device::StreamHandle stream;

    std::size_t whole() const { return transfer.receive.count; }
    std::size_t sent_to_each() const {
        return transfer.send.count / static_cast<std::size_t>(ranks);
    }
    ncclDataType_t type() const { return nccl_type(transfer.receive.dtype); }
    ncclRedOp_t op() const { return transfer.average ? ncclAvg : nccl_op(transfer.op); }
    const char* in() const { return static_cast<const char*>(transfer.send.data); }
    char* out() const { return static_cast<char*>(transfer.receive.data); }
    // Offset in bytes of the part of rank `of`.
    std::size_t place(int of) const {
        return sent_to_each() * static_cast<std::size_t>(of) * size_of(transfer.receive.dtype);
    }
    // In place, NCCL leaves this rank's part at its position in the whole.
    char* own_part() const { return transfer.in_place() ? out() + place(rank) : out(); }

    ncclResult_t send(const char* from, std::size_t count, int to) const {
        return nccl.send(from, count, type(), to, comm, stream);
    }
    ncclResult_t receive(char* into, std::size_t count, int from) const {
        return nccl.receive(into, count, type(), from, comm, stream);
    }
};

ncclResult_t allreduce(const Call& c) {
    return c.nccl.all_reduce(c.in(), c.out(), c.whole(), c.type(), c.op(), c.comm, c.stream);
}

ncclResult_t broadcast(const Call& c) {
    return c.nccl.broadcast(c.out(), c.out(), c.whole(), c.type(), c.transfer.root, c.comm,
                            c.stream);
}

ncclResult_t reduce(const Call& c) {
    return c.nccl.reduce(c.in(), c.out(), c.whole(), c.type(), c.op(), c.transfer.root, c.comm,
                         c.stream);
}

ncclResult_t allgather(const Call& c) {
    return c.nccl.all_gather(c.in(), c.out(), c.transfer.send.count, c.type(), c.comm, c.stream);
}

ncclResult_t reduce_scatter(const Call& c) {
    return c.nccl.reduce_scatter(c.in(), c.own_part(), c.sent_to_each(), c.type(), c.op(), c.comm,
                                 c.stream);
}

// Makes several calls as one operation: within a group no message waits for another.
template <class Put>
ncclResult_t grouped(const Call& c, Put put) {
    const auto begun = c.nccl.group_start();
    if (begun != ncclSuccess) return begun;
    const auto rc = put();
    const auto ended = c.nccl.group_end();  // also after an error
    return rc != ncclSuccess ? rc : ended;
}

ncclResult_t alltoall(const Call& c) {
    return grouped(c, [&] {
        auto rc = ncclSuccess;
        for (int peer = 0; peer < c.ranks && rc == ncclSuccess; ++peer) {
            rc = c.send(c.in() + c.place(peer), c.sent_to_each(), peer);
            if (rc == ncclSuccess) rc = c.receive(c.out() + c.place(peer), c.sent_to_each(), peer);
        }
        return rc;
    });
}

ncclResult_t sendrecv(const Call& c) {
    return grouped(c, [&] {
        const auto rc = c.send(c.in(), c.whole(), (c.rank + 1) % c.ranks);
        if (rc != ncclSuccess) return rc;
        return c.receive(c.out(), c.whole(), (c.rank + c.ranks - 1) % c.ranks);
    });
}

ncclResult_t latency(const Call& c) {
    const bool first = c.rank == 0;
    const int other = first ? c.ranks - 1 : 0;
    const auto send = [&] { return c.send(c.in(), c.whole(), other); };
    const auto receive = [&] { return c.receive(c.out(), c.whole(), other); };
    const auto rc = first ? send() : receive();
    if (rc != ncclSuccess) return rc;
    return first ? receive() : send();
}

// Needs no reply message: the stream's order shows when all messages have arrived.
ncclResult_t bandwidth(const Call& c) {
    auto rc = ncclSuccess;
    for (int i = 0; i < messages_of(Operation::bandwidth) && rc == ncclSuccess; ++i)
        rc =
            c.rank == 0 ? c.send(c.in(), c.whole(), c.ranks - 1) : c.receive(c.out(), c.whole(), 0);
    return rc;
}

ncclResult_t enqueued(const Call& c) {
    constexpr std::array<ncclResult_t (*)(const Call&), 10> kOperations{
        allreduce, broadcast, reduce,  allgather, reduce_scatter,
        alltoall,  sendrecv,  nullptr, latency,   bandwidth};
    return kOperations.at(base::number_of(c.transfer.operation))(c);
}

}  // namespace

NcclCommunicator::NcclCommunicator(std::shared_ptr<NcclChannel> channel,
                                   std::unique_ptr<Communicator> control)
    : control_(std::move(control)), channel_(std::move(channel)), scratch_(1) {}

// A started barrier has no buffers and waits for nothing.
Request NcclCommunicator::start(const Transfer& transfer) {
    need_device(transfer.send);
    need_device(transfer.receive);
    const bool is_empty = transfer.send.count == 0 && transfer.receive.count == 0;
    if (is_empty || !takes_part(transfer.operation, rank(), world_size())) return {};
    channel_->enqueue(name_of(transfer.operation).data(),
                      [&](const NcclLibrary& nccl, ncclComm_t comm, device::StreamHandle stream) {
                          return enqueued({transfer, rank(), world_size(), nccl, comm, stream});
                      });
    return Request(std::make_unique<NcclRequest>(channel_));
}

BufferView NcclCommunicator::result_of(const Transfer& transfer) const {
    BufferView result = Communicator::result_of(transfer);
    if (transfer.operation == Operation::reduce_scatter && transfer.in_place())
        result.data =
            static_cast<char*>(result.data) + result.bytes() * static_cast<std::size_t>(rank());
    return result;
}

void NcclCommunicator::barrier() {
    allreduce({.data = scratch_.data(), .count = 1, .dtype = DType::u8, .memory = Memory::device},
              ReduceOp::max);
    synchronize();
}

std::unique_ptr<Communicator> NcclCommunicator::split(int color, int key) {
    auto control = control_->split(color, key);
    return std::make_unique<NcclCommunicator>(channel_->split(color, key), std::move(control));
}

}  // namespace ranklab::comm
