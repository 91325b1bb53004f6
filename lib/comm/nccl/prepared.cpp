#include <array>
#include <functional>
#include <utility>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "comm/nccl/nccl_communicator.hpp"

namespace ranklab::comm {
namespace {

// Enqueues the operation on the stream.
using Put = std::function<ncclResult_t(const NcclLibrary&, ncclComm_t, cudaStream_t)>;

struct Parts {
    Transfer transfer;
    int rank;
    int ranks;

    std::size_t whole() const { return transfer.receive.count; }
    std::size_t sent_to_each() const {
        return transfer.send.count / static_cast<std::size_t>(ranks);
    }
    ncclDataType_t type() const { return nccl_type(transfer.receive.dtype); }
    ncclRedOp_t op() const { return transfer.average ? ncclAvg : nccl_op(transfer.op); }
    const char* in() const { return static_cast<const char*>(transfer.send.data); }
    char* out() const { return static_cast<char*>(transfer.receive.data); }
    std::size_t bytes_of(std::size_t count) const {
        return count * size_of(transfer.receive.dtype);
    }
};

Put allreduce(const Parts& p) {
    return [p](const auto& nccl, auto comm, auto stream) {
        return nccl.all_reduce(p.in(), p.out(), p.whole(), p.type(), p.op(), comm, stream);
    };
}

Put broadcast(const Parts& p) {
    return [p](const auto& nccl, auto comm, auto stream) {
        return nccl.broadcast(p.out(), p.out(), p.whole(), p.type(), p.transfer.root, comm, stream);
    };
}

Put reduce(const Parts& p) {
    return [p](const auto& nccl, auto comm, auto stream) {
        return nccl.reduce(p.in(), p.out(), p.whole(), p.type(), p.op(), p.transfer.root, comm,
                           stream);
    };
}

Put allgather(const Parts& p) {
    return [p](const auto& nccl, auto comm, auto stream) {
        return nccl.all_gather(p.in(), p.out(), p.transfer.send.count, p.type(), comm, stream);
    };
}

// Offset of this rank's part in bytes: in place, NCCL leaves it at its position in the whole.
std::size_t own_part(const Parts& p) {
    return p.transfer.in_place() ? p.bytes_of(p.sent_to_each()) * static_cast<std::size_t>(p.rank)
                                 : 0;
}

Put reduce_scatter(const Parts& p) {
    return [p](const auto& nccl, auto comm, auto stream) {
        return nccl.reduce_scatter(p.in(), p.out() + own_part(p), p.sent_to_each(), p.type(),
                                   p.op(), comm, stream);
    };
}

// Several calls as one operation: within a group no message waits for another.
Put grouped(Put put) {
    return [put = std::move(put)](const auto& nccl, auto comm, auto stream) {
        const auto begun = nccl.group_start();
        if (begun != ncclSuccess) return begun;
        const auto rc = put(nccl, comm, stream);
        const auto ended = nccl.group_end();  // also after an error
        return rc != ncclSuccess ? rc : ended;
    };
}

Put alltoall(const Parts& p) {
    return grouped([p](const auto& nccl, auto comm, auto stream) {
        for (int peer = 0; peer < p.ranks; ++peer) {
            const auto place = p.bytes_of(p.sent_to_each()) * static_cast<std::size_t>(peer);
            auto rc = nccl.send(p.in() + place, p.sent_to_each(), p.type(), peer, comm, stream);
            if (rc == ncclSuccess)
                rc = nccl.receive(p.out() + place, p.sent_to_each(), p.type(), peer, comm, stream);
            if (rc != ncclSuccess) return rc;
        }
        return ncclSuccess;
    });
}

Put sendrecv(const Parts& p) {
    return grouped([p](const auto& nccl, auto comm, auto stream) {
        const auto rc =
            nccl.send(p.in(), p.whole(), p.type(), (p.rank + 1) % p.ranks, comm, stream);
        if (rc != ncclSuccess) return rc;
        return nccl.receive(p.out(), p.whole(), p.type(), (p.rank + p.ranks - 1) % p.ranks, comm,
                            stream);
    });
}

Put latency(const Parts& p) {
    return [p](const auto& nccl, auto comm, auto stream) {
        const bool first = p.rank == 0;
        const int other = first ? p.ranks - 1 : 0;
        const auto send = [&] {
            return nccl.send(p.in(), p.whole(), p.type(), other, comm, stream);
        };
        const auto receive = [&] {
            return nccl.receive(p.out(), p.whole(), p.type(), other, comm, stream);
        };
        const auto rc = first ? send() : receive();
        if (rc != ncclSuccess) return rc;
        return first ? receive() : send();
    };
}

// Needs no reply message: the stream's order shows when all messages have arrived.
Put bandwidth(const Parts& p) {
    return [p](const auto& nccl, auto comm, auto stream) {
        const int other = p.rank == 0 ? p.ranks - 1 : 0;
        for (int message = 0; message < messages_of(Operation::bandwidth); ++message) {
            const auto rc = p.rank == 0
                                ? nccl.send(p.in(), p.whole(), p.type(), other, comm, stream)
                                : nccl.receive(p.out(), p.whole(), p.type(), other, comm, stream);
            if (rc != ncclSuccess) return rc;
        }
        return ncclSuccess;
    };
}

// Empty for a barrier, which the communicator makes, and for ranks without a part.
Put put_of(const Parts& p) {
    if (p.transfer.operation == Operation::barrier) return {};
    if (!takes_part(p.transfer.operation, p.rank, p.ranks)) return {};
    constexpr std::array<Put (*)(const Parts&), 10> kPuts{
        allreduce, broadcast, reduce,  allgather, reduce_scatter,
        alltoall,  sendrecv,  nullptr, latency,   bandwidth};
    return kPuts.at(base::number_of(p.transfer.operation))(p);
}

BufferView result_of(const Parts& p) {
    BufferView result = p.transfer.receive;
    if (p.transfer.operation == Operation::reduce_scatter && p.transfer.in_place()) {
        result.data = p.out() + own_part(p);
        result.count = p.sent_to_each();
    }
    if (!has_result(p.transfer, p.rank, p.ranks)) result.count = 0;
    return result;
}

class NcclPrepared final : public Prepared {
  public:
    NcclPrepared(NcclCommunicator& communicator, const Parts& parts)
        : communicator_(communicator),
          put_(put_of(parts)),
          result_(result_of(parts)),
          is_barrier_(parts.transfer.operation == Operation::barrier) {}

    void run() override { is_barrier_ ? communicator_.barrier() : start().wait(); }
    Request start() override {
        if (!put_) return {};
        return communicator_.start("an NCCL operation", put_);
    }
    BufferView result() const override { return result_; }

  private:
    NcclCommunicator& communicator_;
    Put put_;
    BufferView result_;
    bool is_barrier_;
};

}  // namespace

std::unique_ptr<Prepared> prepare_nccl(Communicator& data, const Transfer& transfer) {
    auto& communicator = dynamic_cast<NcclCommunicator&>(data);
    for (const auto* buffer : {&transfer.send, &transfer.receive})
        if (buffer->count > 0 && buffer->memory != Memory::device)
            throw base::NcclError("internal: an NCCL operation in host memory");
    return std::make_unique<NcclPrepared>(
        communicator, Parts{transfer, communicator.rank(), communicator.world_size()});
}

}  // namespace ranklab::comm
