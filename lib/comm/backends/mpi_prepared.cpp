#include "comm/backends/mpi_prepared.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/pinned.hpp"
#include "base/progress.hpp"
#include "comm/backends/mpi_communicator.hpp"
#include "comm/backends/mpi_counts.hpp"
#include "comm/counts.hpp"
#include "comm/divide.hpp"
#include "comm/mpi_check.hpp"

namespace ranklab::comm {
namespace {

constexpr int kTag = 7472;  // of no meaning; the communicator is the caller's own

using Requests = std::vector<MPI_Request>;

class MpiRequests final : public Request::State, base::Pinned {
  public:
    MpiRequests(Requests requests, std::function<void()> finish)
        : requests_(std::move(requests)), finish_(std::move(finish)) {}
    ~MpiRequests() override {
        if (!done_ && MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE) != MPI_SUCCESS)
            base::log::warn("MPI_Waitall failed while a request was dropped");
    }
    void wait() override {
        if (done_) return;
        mpi_check(MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
        end();
    }
    bool test() override {
        int done = done_ ? 1 : 0;
        if (!done_)
            mpi_check(MPI_Testall(count(), requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
        if (done != 0 && !done_) end();
        return done != 0;
    }

  private:
    int count() const { return static_cast<int>(requests_.size()); }
    void end() {
        done_ = true;
        base::count_progress();
        finish_();
    }

    Requests requests_;
    std::function<void()> finish_;
    bool done_ = false;
};

// One transfer's two forms. Both are made once: what a call costs beyond MPI's own is a jump.
struct Forms {
    std::function<void()> run;
    std::function<void(Requests&)> start;
};

class MpiPrepared final : public Prepared {
  public:
    MpiPrepared(Forms forms, BufferView result, int divisor)
        : forms_(std::move(forms)), result_(result), divisor_(divisor) {}

    void run() override {
        forms_.run();
        finish();
    }
    Request start() override {
        if (!forms_.start) throw base::Error("internal: this operation has no started form");
        Requests requests;
        forms_.start(requests);
        return Request(std::make_unique<MpiRequests>(std::move(requests), [this] { finish(); }));
    }
    BufferView result() const override { return result_; }

  private:
    void finish() const {
        if (divisor_ > 1) divide(result_, divisor_);
    }

    Forms forms_;
    BufferView result_;
    int divisor_;  // of an average, where this rank has the result; else 1
};

// What the forms of an operation are made of.
struct Parts {
    const MpiCommunicator& communicator;
    const Transfer& transfer;

    MPI_Comm comm() const { return communicator.native(); }
    int rank() const { return communicator.rank(); }
    int ranks() const { return communicator.world_size(); }
    MPI_Datatype type() const { return mpi_type(transfer.receive.dtype); }
    MPI_Op op() const { return communicator.mpi_op(transfer.receive.dtype, transfer.op); }
    void* out(std::size_t bytes = 0) const { return static_cast<char*>(transfer.receive.data) + bytes; }
    const void* in(std::size_t bytes = 0) const {
        return static_cast<const char*>(transfer.send.data) + bytes;
    }
    const void* in_or_in_place(std::size_t bytes = 0) const {
        return transfer.in_place() ? MPI_IN_PLACE : in(bytes);
    }
    std::shared_ptr<const MpiLength> length(std::size_t count) const {
        return std::make_shared<MpiLength>(count, type());
    }
};

void check(int rc, const char* call) {
    mpi_check(rc, call);
}

MPI_Request& added(Requests& requests) {
    return requests.emplace_back(MPI_REQUEST_NULL);
}

struct Reduction {
    const void* in;
    void* out;
    int count;
};

// A reduction knows only MPI's own types, so that what is longer than an int goes in pieces.
std::vector<Reduction> reductions(const Parts& p, bool in_place_here) {
    std::vector<Reduction> all;
    for (const auto& piece : mpi_pieces(p.transfer.receive))
        all.push_back(
            {in_place_here ? MPI_IN_PLACE : p.in(piece.begin_bytes), p.out(piece.begin_bytes), piece.count});
    return all;
}

Forms allreduce(const Parts& p) {
    return {.run =
                [all = reductions(p, p.transfer.in_place()), type = p.type(), op = p.op(), comm = p.comm()] {
                    for (const auto& one : all)
                        check(MPI_Allreduce(one.in, one.out, one.count, type, op, comm), "MPI_Allreduce");
                },
            .start =
                [all = reductions(p, p.transfer.in_place()), type = p.type(), op = p.op(),
                 comm = p.comm()](Requests& requests) {
                    for (const auto& one : all)
                        check(MPI_Iallreduce(one.in, one.out, one.count, type, op, comm, &added(requests)),
                              "MPI_Iallreduce");
                }};
}

// Only the root may say that it works in place.
Forms reduce(const Parts& p) {
    const bool here = p.transfer.in_place() && p.rank() == p.transfer.root;
    return {.run =
                [all = reductions(p, here), type = p.type(), op = p.op(), root = p.transfer.root,
                 comm = p.comm()] {
                    for (const auto& one : all)
                        check(MPI_Reduce(one.in, one.out, one.count, type, op, root, comm), "MPI_Reduce");
                },
            .start =
                [all = reductions(p, here), type = p.type(), op = p.op(), root = p.transfer.root,
                 comm = p.comm()](Requests& requests) {
                    for (const auto& one : all)
                        check(MPI_Ireduce(one.in, one.out, one.count, type, op, root, comm, &added(requests)),
                              "MPI_Ireduce");
                }};
}

Forms broadcast(const Parts& p) {
    const auto whole = p.length(p.transfer.receive.count);
    return {.run =
                [whole, out = p.out(), root = p.transfer.root, comm = p.comm()] {
                    check(MPI_Bcast(out, whole->count(), whole->type(), root, comm), "MPI_Bcast");
                },
            .start =
                [whole, out = p.out(), root = p.transfer.root, comm = p.comm()](Requests& requests) {
                    check(MPI_Ibcast(out, whole->count(), whole->type(), root, comm, &added(requests)),
                          "MPI_Ibcast");
                }};
}

Forms allgather(const Parts& p) {
    const auto part = p.length(p.transfer.send.count);
    return {
        .run =
            [part, in = p.in_or_in_place(), out = p.out(), comm = p.comm()] {
                check(MPI_Allgather(in, part->count(), part->type(), out, part->count(), part->type(), comm),
                      "MPI_Allgather");
            },
        .start =
            [part, in = p.in_or_in_place(), out = p.out(), comm = p.comm()](Requests& requests) {
                check(MPI_Iallgather(in, part->count(), part->type(), out, part->count(), part->type(), comm,
                                     &added(requests)),
                      "MPI_Iallgather");
            }};
}

// Its parts lie side by side: there are no pieces that one call could reduce.
Forms reduce_scatter(const Parts& p) {
    const int count = mpi_count(p.transfer.send.count / static_cast<std::size_t>(p.ranks()));
    return {.run =
                [=, in = p.in_or_in_place(), out = p.out(), type = p.type(), op = p.op(), comm = p.comm()] {
                    check(MPI_Reduce_scatter_block(in, out, count, type, op, comm),
                          "MPI_Reduce_scatter_block");
                },
            .start =
                [=, in = p.in_or_in_place(), out = p.out(), type = p.type(), op = p.op(),
                 comm = p.comm()](Requests& requests) {
                    check(MPI_Ireduce_scatter_block(in, out, count, type, op, comm, &added(requests)),
                          "MPI_Ireduce_scatter_block");
                }};
}

Forms alltoall(const Parts& p) {
    const auto part = p.length(p.transfer.send.count / static_cast<std::size_t>(p.ranks()));
    return {.run =
                [part, in = p.in_or_in_place(), out = p.out(), comm = p.comm()] {
                    check(
                        MPI_Alltoall(in, part->count(), part->type(), out, part->count(), part->type(), comm),
                        "MPI_Alltoall");
                },
            .start =
                [part, in = p.in_or_in_place(), out = p.out(), comm = p.comm()](Requests& requests) {
                    check(MPI_Ialltoall(in, part->count(), part->type(), out, part->count(), part->type(),
                                        comm, &added(requests)),
                          "MPI_Ialltoall");
                }};
}

Forms sendrecv(const Parts& p) {
    const auto whole = p.length(p.transfer.send.count);
    const int next = (p.rank() + 1) % p.ranks();
    const int before = (p.rank() + p.ranks() - 1) % p.ranks();
    return {.run =
                [=, in = p.in(), out = p.out(), comm = p.comm()] {
                    check(MPI_Sendrecv(in, whole->count(), whole->type(), next, kTag, out, whole->count(),
                                       whole->type(), before, kTag, comm, MPI_STATUS_IGNORE),
                          "MPI_Sendrecv");
                },
            .start =
                [=, in = p.in(), out = p.out(), comm = p.comm()](Requests& requests) {
                    check(MPI_Irecv(out, whole->count(), whole->type(), before, kTag, comm, &added(requests)),
                          "MPI_Irecv");
                    check(MPI_Isend(in, whole->count(), whole->type(), next, kTag, comm, &added(requests)),
                          "MPI_Isend");
                }};
}

Forms barrier(const Parts& p) {
    return {
        .run = [comm = p.comm()] { check(MPI_Barrier(comm), "MPI_Barrier"); },
        .start = [comm = p.comm()](
                     Requests& requests) { check(MPI_Ibarrier(comm, &added(requests)), "MPI_Ibarrier"); }};
}

Forms latency(const Parts& p) {
    const auto whole = p.length(p.transfer.send.count);
    const bool first = p.rank() == 0;
    const int other = first ? p.ranks() - 1 : 0;
    const auto send = [=, in = p.in(), comm = p.comm()] {
        check(MPI_Send(in, whole->count(), whole->type(), other, kTag, comm), "MPI_Send");
    };
    const auto receive = [=, out = p.out(), comm = p.comm()] {
        check(MPI_Recv(out, whole->count(), whole->type(), other, kTag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    };
    return {.run =
                [=] {
                    if (first) send();
                    receive();
                    if (!first) send();
                },
            .start = {}};
}

// The answer tells the sender that all has come.
void stream_to(const Parts& p, const MpiLength& whole, int other, Requests& requests) {
    for (auto& request : requests)
        check(MPI_Isend(p.in(), whole.count(), whole.type(), other, kTag, p.comm(), &request), "MPI_Isend");
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
    char answer = 0;
    check(MPI_Recv(&answer, 1, MPI_CHAR, other, kTag, p.comm(), MPI_STATUS_IGNORE), "MPI_Recv");
}

void stream_from(const Parts& p, const MpiLength& whole, int other, Requests& requests) {
    for (auto& request : requests)
        check(MPI_Irecv(p.out(), whole.count(), whole.type(), other, kTag, p.comm(), &request), "MPI_Irecv");
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
    const char answer = 1;
    check(MPI_Send(&answer, 1, MPI_CHAR, other, kTag, p.comm()), "MPI_Send");
}

Forms bandwidth(const Parts& p) {
    const bool first = p.rank() == 0;
    return {.run =
                [&communicator = p.communicator, transfer = p.transfer, first,
                 whole = p.length(p.transfer.send.count),
                 requests = std::make_shared<Requests>(messages_of(Operation::bandwidth), MPI_REQUEST_NULL)] {
                    const Parts parts{communicator, transfer};
                    const int other = first ? parts.ranks() - 1 : 0;
                    first ? stream_to(parts, *whole, other, *requests)
                          : stream_from(parts, *whole, other, *requests);
                },
            .start = {}};
}

Forms idle() {
    return {.run = [] {}, .start = [](Requests&) {}};
}

Forms forms_of(const Parts& p) {
    const Operation operation = p.transfer.operation;
    if (!takes_part(operation, p.rank(), p.ranks())) return idle();
    constexpr std::array kForms{allreduce, broadcast, reduce,  allgather, reduce_scatter,
                                alltoall,  sendrecv,  barrier, latency,   bandwidth};
    return kForms.at(static_cast<std::size_t>(operation))(p);
}

BufferView result_of(const Parts& p) {
    const auto& [operation, send, receive, op, average, root] = p.transfer;
    BufferView result = receive;
    if (operation == Operation::reduce_scatter && p.transfer.in_place())
        result.count = send.count / static_cast<std::size_t>(p.ranks());  // MPI leaves it at the beginning
    const bool none = (operation == Operation::reduce && p.rank() != root) ||
                      operation == Operation::barrier || !takes_part(operation, p.rank(), p.ranks()) ||
                      (operation == Operation::bandwidth && p.rank() == 0);
    if (none) result.count = 0;
    return result;
}

}  // namespace

std::unique_ptr<Prepared> prepare_mpi(Communicator& data, const Transfer& transfer) {
    const auto& communicator = dynamic_cast<const MpiCommunicator&>(data);
    need_host<base::MpiError>(transfer.send, "mpi");
    need_host<base::MpiError>(transfer.receive, "mpi");
    if (is_between_two(transfer.operation) && communicator.world_size() < 2)
        throw base::Error("internal: one rank has nobody to send to");
    const Parts parts{communicator, transfer};
    return std::make_unique<MpiPrepared>(forms_of(parts), result_of(parts),
                                         transfer.average ? communicator.world_size() : 1);
}

}  // namespace ranklab::comm
