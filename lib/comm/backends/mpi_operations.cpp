#include <mpi.h>

#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "comm/backend.hpp"
#include "comm/backends/mpi_communicator.hpp"
#include "comm/mpi_environment.hpp"

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

// One rank's MPI call. If `begun` is set, the call is non-blocking and appends its requests.
struct Call {
    const MpiCommunicator& communicator;
    const Transfer& transfer;
    Requests* begun;

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
    MPI_Request* added() const { return &begun->emplace_back(MPI_REQUEST_NULL); }

    // Calls MPI's blocking function, or its non-blocking variant, which takes a request as last
    // argument.
    template <class Run, class Begin, class... Arguments>
    void make(const char* name, Run run, Begin begin, Arguments... arguments) const {
        mpi_check(begun != nullptr ? begin(arguments..., added()) : run(arguments...), name);
    }
};

void allreduce(const Call& c) {
    c.make("MPI_Allreduce", MPI_Allreduce, MPI_Iallreduce, c.in_or_in_place(), c.out(),
           c.received(), c.type(), c.op(), c.comm());
}

// MPI allows MPI_IN_PLACE on the root only.
void reduce(const Call& c) {
    const void* in = c.rank() == c.transfer.root ? c.in_or_in_place() : c.in();
    c.make("MPI_Reduce", MPI_Reduce, MPI_Ireduce, in, c.out(), c.received(), c.type(), c.op(),
           c.transfer.root, c.comm());
}

void broadcast(const Call& c) {
    c.make("MPI_Bcast", MPI_Bcast, MPI_Ibcast, c.out(), c.received(), c.type(), c.transfer.root,
           c.comm());
}

void allgather(const Call& c) {
    c.make("MPI_Allgather", MPI_Allgather, MPI_Iallgather, c.in_or_in_place(), c.sent(), c.type(),
           c.out(), c.sent(), c.type(), c.comm());
}

void reduce_scatter(const Call& c) {
    c.make("MPI_Reduce_scatter_block", MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
           c.in_or_in_place(), c.out(), c.sent_to_each(), c.type(), c.op(), c.comm());
}

void alltoall(const Call& c) {
    c.make("MPI_Alltoall", MPI_Alltoall, MPI_Ialltoall, c.in_or_in_place(), c.sent_to_each(),
           c.type(), c.out(), c.sent_to_each(), c.type(), c.comm());
}

void barrier(const Call& c) {
    c.make("MPI_Barrier", MPI_Barrier, MPI_Ibarrier, c.comm());
}

void sendrecv(const Call& c) {
    const int next = (c.rank() + 1) % c.ranks();
    const int before = (c.rank() + c.ranks() - 1) % c.ranks();
    if (c.begun == nullptr)
        return mpi_check(MPI_Sendrecv(c.in(), c.sent(), c.type(), next, kTag, c.out(), c.sent(),
                                      c.type(), before, kTag, c.comm(), MPI_STATUS_IGNORE),
                         "MPI_Sendrecv");
    mpi_check(MPI_Irecv(c.out(), c.sent(), c.type(), before, kTag, c.comm(), c.added()),
              "MPI_Irecv");
    mpi_check(MPI_Isend(c.in(), c.sent(), c.type(), next, kTag, c.comm(), c.added()), "MPI_Isend");
}

// Operations between two ranks have no non-blocking variant.

void latency(const Call& c) {
    const bool first = c.rank() == 0;
    const int other = first ? c.ranks() - 1 : 0;
    const auto send = [&] {
        mpi_check(MPI_Send(c.in(), c.sent(), c.type(), other, kTag, c.comm()), "MPI_Send");
    };
    if (first) send();
    mpi_check(MPI_Recv(c.out(), c.sent(), c.type(), other, kTag, c.comm(), MPI_STATUS_IGNORE),
              "MPI_Recv");
    if (!first) send();
}

// The answer tells the sender that all messages have arrived.
void bandwidth(const Call& c) {
    const bool first = c.rank() == 0;
    const int other = first ? c.ranks() - 1 : 0;
    std::array<MPI_Request, messages_of(Operation::bandwidth)> window;
    for (auto& one : window)
        mpi_check(first ? MPI_Isend(c.in(), c.sent(), c.type(), other, kTag, c.comm(), &one)
                        : MPI_Irecv(c.out(), c.sent(), c.type(), other, kTag, c.comm(), &one),
                  "a message");
    mpi_check(MPI_Waitall(static_cast<int>(window.size()), window.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
    char answer = 0;
    mpi_check(first ? MPI_Recv(&answer, 1, MPI_CHAR, other, kTag, c.comm(), MPI_STATUS_IGNORE)
                    : MPI_Send(&answer, 1, MPI_CHAR, other, kTag, c.comm()),
              "the answer");
}

void perform(const Call& c) {
    need_host(c.transfer.send, "mpi");
    need_host(c.transfer.receive, "mpi");
    const Operation operation = c.transfer.operation;
    if (is_between_two(operation) && c.ranks() < 2)
        throw base::Error("internal: an operation between two ranks on one rank");
    if (!takes_part(operation, c.rank(), c.ranks())) return;
    constexpr std::array kCalls{allreduce, broadcast, reduce,  allgather, reduce_scatter,
                                alltoall,  sendrecv,  barrier, latency,   bandwidth};
    kCalls.at(static_cast<std::size_t>(operation))(c);
}

MPI_Comm native(const Communicator& communicator) {
    return dynamic_cast<const MpiCommunicator&>(communicator).native();
}

}  // namespace

void MpiCommunicator::run(const Transfer& transfer) {
    perform({*this, transfer, nullptr});
    if (transfer.average && world_size_ > 1) divide(result_of(transfer), world_size_);
}

Request MpiCommunicator::start(const Transfer& transfer) {
    Requests requests;
    perform({*this, transfer, &requests});
    if (!transfer.average) return Request(std::make_unique<MpiRequest>(std::move(requests)));
    return Request(std::make_unique<MpiRequest>(
        std::move(requests),
        [averaged = result_of(transfer), by = world_size_] { divide(averaged, by); }));
}

void send(Communicator& communicator, const BufferView& message, int to, int tag) {
    mpi_done(MPI_Send(message.data, mpi_count(message.count), mpi_type(message.dtype), to, tag,
                      native(communicator)),
             "MPI_Send");
}

void receive(Communicator& communicator, const BufferView& buffer, int from, int tag) {
    mpi_done(MPI_Recv(buffer.data, mpi_count(buffer.count), mpi_type(buffer.dtype), from, tag,
                      native(communicator), MPI_STATUS_IGNORE),
             "MPI_Recv");
}

void scatterv(Communicator& communicator, const BufferView& send,
              std::span<const std::size_t> counts, const BufferView& receive, int root) {
    std::vector<int> lengths, begins;
    if (communicator.rank() == root) {
        static_cast<void>(mpi_count(send.count));  // throws, unless every offset fits an int
        lengths.assign(counts.begin(), counts.end());
        begins.resize(counts.size());
        std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), 0);
    }
    const MPI_Datatype type = mpi_type(receive.dtype);
    mpi_done(MPI_Scatterv(send.data, lengths.data(), begins.data(), type, receive.data,
                          mpi_count(receive.count), type, root, native(communicator)),
             "MPI_Scatterv");
}

const void* native_mpi(const Communicator& communicator) {
    const auto* mpi = dynamic_cast<const MpiCommunicator*>(&communicator);
    return mpi == nullptr ? nullptr : &mpi->native();
}

}  // namespace ranklab::comm
