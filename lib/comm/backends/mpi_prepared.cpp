#include <mpi.h>

#include <array>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/handle.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "comm/backend.hpp"
#include "comm/backends/mpi_communicator.hpp"

namespace ranklab::comm {
namespace {

constexpr int kTag = 7472;  // arbitrary: only this code uses the communicator

using Requests = std::vector<MPI_Request>;

// Divides every element in place: the last step of an average, which MPI lacks. Integers round
// towards zero. The buffer may be unaligned.
void divide(const BufferView& buffer, int by) {
    visit_type(buffer.dtype, [&](auto value) {
        using T = decltype(value);
        auto* bytes = static_cast<char*>(buffer.data);
        for (std::size_t i = 0; i < buffer.count; ++i, bytes += sizeof(T)) {
            std::memcpy(&value, bytes, sizeof(T));
            if constexpr (std::is_integral_v<T>)
                value = static_cast<T>(value / static_cast<std::int64_t>(by));
            else if constexpr (std::is_same_v<T, double>)
                value = value / by;
            else
                value = static_cast<T>(static_cast<float>(value) / static_cast<float>(by));
            std::memcpy(bytes, &value, sizeof(T));
        }
    });
}

// Performs an operation, or with a list of requests starts the operation and appends its requests.
using Form = std::function<void(Requests*)>;

class MpiPrepared final : public Prepared {
  public:
    MpiPrepared(Form form, BufferView result, int divisor)
        : form_(std::move(form)), result_(result), divisor_(divisor) {}

    void run() override {
        form_(nullptr);
        finish();
    }
    Request start() override {
        Requests requests;
        form_(&requests);
        return Request(std::make_unique<MpiRequest>(std::move(requests), [this] { finish(); }));
    }
    BufferView result() const override { return result_; }

  private:
    void finish() const {
        if (divisor_ > 1) divide(result_, divisor_);
    }

    Form form_;
    BufferView result_;
    int divisor_;  // of an average; otherwise 1
};

// The arguments of the MPI calls.
struct Parts {
    const MpiCommunicator& communicator;
    const Transfer& transfer;

    MPI_Comm comm() const { return communicator.native(); }
    int rank() const { return communicator.rank(); }
    int ranks() const { return communicator.world_size(); }
    MPI_Datatype type() const { return mpi_type(transfer.receive.dtype); }
    MPI_Op op() const { return communicator.mpi_op(transfer.receive.dtype, transfer.op); }
    void* out() const { return transfer.receive.data; }
    const void* in() const { return transfer.send.data; }
    const void* in_or_in_place() const { return transfer.in_place() ? MPI_IN_PLACE : in(); }
    int sent() const { return mpi_count(transfer.send.count); }
    int received() const { return mpi_count(transfer.receive.count); }
    int sent_to_each() const {
        return mpi_count(transfer.send.count / static_cast<std::size_t>(ranks()));
    }
};

MPI_Request* added(Requests& requests) {
    return &requests.emplace_back(MPI_REQUEST_NULL);
}

// Makes a Form of the blocking call and its non-blocking variant, which takes a request as last
// argument.
template <class Call, class Begin, class... Arguments>
Form form(const char* name, Call call, Begin begin, Arguments... arguments) {
    return [=](Requests* begun) {
        mpi_check(begun ? begin(arguments..., added(*begun)) : call(arguments...), name);
    };
}

Form allreduce(const Parts& p) {
    return form("MPI_Allreduce", MPI_Allreduce, MPI_Iallreduce, p.in_or_in_place(), p.out(),
                p.received(), p.type(), p.op(), p.comm());
}

// MPI allows MPI_IN_PLACE on the root only.
Form reduce(const Parts& p) {
    const void* in = p.rank() == p.transfer.root ? p.in_or_in_place() : p.in();
    return form("MPI_Reduce", MPI_Reduce, MPI_Ireduce, in, p.out(), p.received(), p.type(), p.op(),
                p.transfer.root, p.comm());
}

Form broadcast(const Parts& p) {
    return form("MPI_Bcast", MPI_Bcast, MPI_Ibcast, p.out(), p.received(), p.type(),
                p.transfer.root, p.comm());
}

Form allgather(const Parts& p) {
    return form("MPI_Allgather", MPI_Allgather, MPI_Iallgather, p.in_or_in_place(), p.sent(),
                p.type(), p.out(), p.sent(), p.type(), p.comm());
}

Form reduce_scatter(const Parts& p) {
    return form("MPI_Reduce_scatter_block", MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                p.in_or_in_place(), p.out(), p.sent_to_each(), p.type(), p.op(), p.comm());
}

Form alltoall(const Parts& p) {
    return form("MPI_Alltoall", MPI_Alltoall, MPI_Ialltoall, p.in_or_in_place(), p.sent_to_each(),
                p.type(), p.out(), p.sent_to_each(), p.type(), p.comm());
}

Form barrier(const Parts& p) {
    return form("MPI_Barrier", MPI_Barrier, MPI_Ibarrier, p.comm());
}

Form sendrecv(const Parts& p) {
    const int next = (p.rank() + 1) % p.ranks();
    const int before = (p.rank() + p.ranks() - 1) % p.ranks();
    return [=, in = p.in(), out = p.out(), count = p.sent(), type = p.type(),
            comm = p.comm()](Requests* begun) {
        if (begun == nullptr)
            return mpi_check(MPI_Sendrecv(in, count, type, next, kTag, out, count, type, before,
                                          kTag, comm, MPI_STATUS_IGNORE),
                             "MPI_Sendrecv");
        mpi_check(MPI_Irecv(out, count, type, before, kTag, comm, added(*begun)), "MPI_Irecv");
        mpi_check(MPI_Isend(in, count, type, next, kTag, comm, added(*begun)), "MPI_Isend");
    };
}

// Operations between two ranks have no non-blocking variant.

Form latency(const Parts& p) {
    const bool first = p.rank() == 0;
    const int other = first ? p.ranks() - 1 : 0;
    return [=, in = p.in(), out = p.out(), count = p.sent(), type = p.type(),
            comm = p.comm()](Requests*) {
        if (first) mpi_check(MPI_Send(in, count, type, other, kTag, comm), "MPI_Send");
        mpi_check(MPI_Recv(out, count, type, other, kTag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
        if (!first) mpi_check(MPI_Send(in, count, type, other, kTag, comm), "MPI_Send");
    };
}

// The answer tells the sender that all messages have arrived.
Form bandwidth(const Parts& p) {
    const bool first = p.rank() == 0;
    const int other = first ? p.ranks() - 1 : 0;
    const auto window =
        std::make_shared<Requests>(messages_of(Operation::bandwidth), MPI_REQUEST_NULL);
    return [=, in = p.in(), out = p.out(), count = p.sent(), type = p.type(),
            comm = p.comm()](Requests*) {
        for (auto& one : *window)
            mpi_check(first ? MPI_Isend(in, count, type, other, kTag, comm, &one)
                            : MPI_Irecv(out, count, type, other, kTag, comm, &one),
                      "a message");
        mpi_check(
            MPI_Waitall(static_cast<int>(window->size()), window->data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
        char answer = 0;
        mpi_check(first ? MPI_Recv(&answer, 1, MPI_CHAR, other, kTag, comm, MPI_STATUS_IGNORE)
                        : MPI_Send(&answer, 1, MPI_CHAR, other, kTag, comm),
                  "the answer");
    };
}

Form form_of(const Parts& p) {
    const Operation operation = p.transfer.operation;
    if (!takes_part(operation, p.rank(), p.ranks())) return [](Requests*) {};
    constexpr std::array kForms{allreduce, broadcast, reduce,  allgather, reduce_scatter,
                                alltoall,  sendrecv,  barrier, latency,   bandwidth};
    return kForms.at(static_cast<std::size_t>(operation))(p);
}

BufferView result_of(const Parts& p) {
    BufferView result = p.transfer.receive;
    if (p.transfer.operation == Operation::reduce_scatter && p.transfer.in_place())
        result.count = p.sent_to_each();  // at the beginning of the buffer
    if (!has_result(p.transfer, p.rank(), p.ranks())) result.count = 0;
    return result;
}

}  // namespace

std::unique_ptr<Prepared> prepare_mpi(Communicator& data, const Transfer& transfer) {
    const auto& communicator = dynamic_cast<const MpiCommunicator&>(data);
    need_host(transfer.send, "mpi");
    need_host(transfer.receive, "mpi");
    if (is_between_two(transfer.operation) && communicator.world_size() < 2)
        throw base::Error("internal: an operation between two ranks on one rank");
    const Parts parts{communicator, transfer};
    return std::make_unique<MpiPrepared>(form_of(parts), result_of(parts),
                                         transfer.average ? communicator.world_size() : 1);
}

}  // namespace ranklab::comm
