#include "comm/backends/mpi_prepared.hpp"

#include <mpi.h>

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/handle.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "comm/backends/mpi_communicator.hpp"
#include "comm/counts.hpp"
#include "comm/mpi_check.hpp"
#include "comm/visit_type.hpp"

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

// One transfer: it is begun, and its requests are added, or made from beginning to end where there are none.
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
        return Request(std::make_unique<MpiRequests>(std::move(requests), [this] { finish(); }));
    }
    BufferView result() const override { return result_; }

  private:
    void finish() const {
        if (divisor_ > 1) divide(result_, divisor_);
    }

    Form form_;
    BufferView result_;
    int divisor_;  // of an average, where this rank has the result; else 1
};

// The arguments of an operation in MPI's terms.
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
    int sent_to_each() const { return mpi_count(transfer.send.count / static_cast<std::size_t>(ranks())); }
};

MPI_Request* added(Requests& requests) {
    return &requests.emplace_back(MPI_REQUEST_NULL);
}

Form allreduce(const Parts& p) {
    return [in = p.in_or_in_place(), out = p.out(), count = p.received(), type = p.type(), op = p.op(),
            comm = p.comm()](Requests* begun) {
        mpi_check(begun ? MPI_Iallreduce(in, out, count, type, op, comm, added(*begun))
                        : MPI_Allreduce(in, out, count, type, op, comm),
                  "MPI_Allreduce");
    };
}

// Only the root may say that it works in place.
Form reduce(const Parts& p) {
    const int root = p.transfer.root;
    return [=, in = p.rank() == root ? p.in_or_in_place() : p.in(), out = p.out(), count = p.received(),
            type = p.type(), op = p.op(), comm = p.comm()](Requests* begun) {
        mpi_check(begun ? MPI_Ireduce(in, out, count, type, op, root, comm, added(*begun))
                        : MPI_Reduce(in, out, count, type, op, root, comm),
                  "MPI_Reduce");
    };
}

Form broadcast(const Parts& p) {
    return [out = p.out(), count = p.received(), type = p.type(), root = p.transfer.root,
            comm = p.comm()](Requests* begun) {
        mpi_check(begun ? MPI_Ibcast(out, count, type, root, comm, added(*begun))
                        : MPI_Bcast(out, count, type, root, comm),
                  "MPI_Bcast");
    };
}

Form allgather(const Parts& p) {
    return [in = p.in_or_in_place(), out = p.out(), count = p.sent(), type = p.type(),
            comm = p.comm()](Requests* begun) {
        mpi_check(begun ? MPI_Iallgather(in, count, type, out, count, type, comm, added(*begun))
                        : MPI_Allgather(in, count, type, out, count, type, comm),
                  "MPI_Allgather");
    };
}

Form reduce_scatter(const Parts& p) {
    return [in = p.in_or_in_place(), out = p.out(), count = p.sent_to_each(), type = p.type(), op = p.op(),
            comm = p.comm()](Requests* begun) {
        mpi_check(begun ? MPI_Ireduce_scatter_block(in, out, count, type, op, comm, added(*begun))
                        : MPI_Reduce_scatter_block(in, out, count, type, op, comm),
                  "MPI_Reduce_scatter_block");
    };
}

Form alltoall(const Parts& p) {
    return [in = p.in_or_in_place(), out = p.out(), count = p.sent_to_each(), type = p.type(),
            comm = p.comm()](Requests* begun) {
        mpi_check(begun ? MPI_Ialltoall(in, count, type, out, count, type, comm, added(*begun))
                        : MPI_Alltoall(in, count, type, out, count, type, comm),
                  "MPI_Alltoall");
    };
}

Form sendrecv(const Parts& p) {
    const int next = (p.rank() + 1) % p.ranks();
    const int before = (p.rank() + p.ranks() - 1) % p.ranks();
    return
        [=, in = p.in(), out = p.out(), count = p.sent(), type = p.type(), comm = p.comm()](Requests* begun) {
            if (begun == nullptr)
                return mpi_check(MPI_Sendrecv(in, count, type, next, kTag, out, count, type, before, kTag,
                                              comm, MPI_STATUS_IGNORE),
                                 "MPI_Sendrecv");
            mpi_check(MPI_Irecv(out, count, type, before, kTag, comm, added(*begun)), "MPI_Irecv");
            mpi_check(MPI_Isend(in, count, type, next, kTag, comm, added(*begun)), "MPI_Isend");
        };
}

Form barrier(const Parts& p) {
    return [comm = p.comm()](Requests* begun) {
        mpi_check(begun ? MPI_Ibarrier(comm, added(*begun)) : MPI_Barrier(comm), "MPI_Barrier");
    };
}

void refuse_start(const Requests* begun) {
    if (begun != nullptr) throw base::Error("internal: this operation has no started form");
}

Form latency(const Parts& p) {
    const bool first = p.rank() == 0;
    const int other = first ? p.ranks() - 1 : 0;
    return
        [=, in = p.in(), out = p.out(), count = p.sent(), type = p.type(), comm = p.comm()](Requests* begun) {
            refuse_start(begun);
            if (first) mpi_check(MPI_Send(in, count, type, other, kTag, comm), "MPI_Send");
            mpi_check(MPI_Recv(out, count, type, other, kTag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
            if (!first) mpi_check(MPI_Send(in, count, type, other, kTag, comm), "MPI_Send");
        };
}

// The answer tells the sender that all has come.
Form bandwidth(const Parts& p) {
    const bool first = p.rank() == 0;
    const int other = first ? p.ranks() - 1 : 0;
    const auto window = std::make_shared<Requests>(messages_of(Operation::bandwidth), MPI_REQUEST_NULL);
    return
        [=, in = p.in(), out = p.out(), count = p.sent(), type = p.type(), comm = p.comm()](Requests* begun) {
            refuse_start(begun);
            for (auto& one : *window)
                mpi_check(first ? MPI_Isend(in, count, type, other, kTag, comm, &one)
                                : MPI_Irecv(out, count, type, other, kTag, comm, &one),
                          "a message");
            mpi_check(MPI_Waitall(static_cast<int>(window->size()), window->data(), MPI_STATUSES_IGNORE),
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
    return std::make_unique<MpiPrepared>(form_of(parts), result_of(parts),
                                         transfer.average ? communicator.world_size() : 1);
}

}  // namespace ranklab::comm
