// A group of ranks and its collectives, which all ranks of the group call in the same order with
// the same counts, from one thread at a time. Errors throw base::Error. Empty buffers are allowed.
//
// In device memory (BackendEntry::memory) an operation is ordered on the compute stream
// (device/gpus.hpp): after earlier work on that stream, before later work. Only barrier() and
// synchronize() make the host wait; Request::test() polls.
#pragma once

#include <memory>

#include "comm/operation.hpp"

namespace ranklab::comm {

/// A started operation. The buffer must not be read, written or freed before wait(); the destructor
/// waits, too. In device memory wait() makes the compute stream wait, and a later call may throw
/// the operation's error.
class Request {
  public:
    class State {
      public:
        virtual ~State() = default;
        virtual void wait() = 0;
        virtual bool test() = 0;  ///< true once complete; drives the library's progress
    };

    Request() = default;
    explicit Request(std::unique_ptr<State> state) : state_(std::move(state)) {}
    void wait() {
        if (state_) state_->wait();
        state_.reset();
    }
    bool test() {
        if (state_ && state_->test()) state_.reset();
        return !state_;
    }
    /// Leaks the operation instead of waiting, for a process that ends although ranks are missing.
    void abandon() { static_cast<void>(state_.release()); }

  private:
    std::unique_ptr<State> state_;
};

class Communicator {
  public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int world_size() const = 0;
    virtual int local_rank() const = 0;  ///< among the ranks of this group on the same node
    virtual int local_size() const = 0;

    virtual void barrier() = 0;
    /// Performs the operation once and returns when it is complete.
    virtual void run(const Transfer& transfer);
    /// Starts the operation and returns. The transfer itself need not outlive the call.
    virtual Request start(const Transfer& transfer) = 0;
    /// This rank's result. In place, its position within the buffer depends on the backend.
    virtual BufferView result_of(const Transfer& transfer) const;

    void broadcast(BufferView buffer, int root);
    /// In place. All ranks get equal bits.
    void allreduce(BufferView buffer, ReduceOp op);
    Request start_allreduce(BufferView buffer, ReduceOp op);
    /// receive.count = send.count * world_size(); rank r's part begins at r * send.count.
    void allgather(BufferView send, BufferView receive);
    /// send.count = receive.count * world_size(); rank r gets the reduction of part r.
    void reduce_scatter(BufferView send, BufferView receive, ReduceOp op);
    /// Ranks of equal color form a group, ordered by key, then by rank.
    virtual std::unique_ptr<Communicator> split(int color, int key) = 0;
    /// Makes the host wait for all operations on device memory. Does nothing in host memory.
    virtual void synchronize() {}
};

/// One rank without MPI: collectives copy or do nothing.
std::unique_ptr<Communicator> make_self();

}  // namespace ranklab::comm
