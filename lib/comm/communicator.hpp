// A group of ranks and their common operations. Collectives are called by all ranks of the group in
// the same order with the same counts; errors throw base::Error. Buffers with no elements are
// allowed.
//
// Device memory (a backend whose BackendEntry says so): an operation begins after the work on the
// compute stream (device/stream.hpp), and is "complete" for that stream: work put on it later comes
// after the operation. The host does not wait; barrier() and synchronize() do, and Request::test()
// asks. One thread at a time.
#pragma once

#include <memory>
#include <string>

#include "comm/buffer.hpp"

namespace ranklab::comm {

/// A started operation. Call wait() before the buffer is read, written or freed; the destructor
/// waits too. For device memory wait() makes the compute stream wait, and an error of the operation
/// may be thrown by a later call.
class Request {
  public:
    class State {
      public:
        virtual ~State() = default;
        virtual void wait() = 0;
        virtual bool test() = 0;  ///< true once complete; gives the library a chance to progress
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
    /// Gives the operation up, for a caller that ends the process because other ranks did not come.
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
    virtual std::string backend() const = 0;  ///< its name in the catalogue

    virtual void barrier() = 0;
    virtual void broadcast(BufferView buffer, int root) = 0;
    /// In place; all ranks get the same bits.
    virtual void allreduce(BufferView buffer, ReduceOp op) = 0;
    virtual Request start_allreduce(BufferView buffer, ReduceOp op) = 0;
    /// receive.count = send.count * world_size(), rank r's part at r * send.count.
    virtual void allgather(BufferView send, BufferView receive) = 0;
    /// send.count = receive.count * world_size(); rank r gets the reduction of part r.
    virtual void reduce_scatter(BufferView send, BufferView receive, ReduceOp op) = 0;
    /// Ranks of equal color form a group, ordered by key, then rank.
    virtual std::unique_ptr<Communicator> split(int color, int key) = 0;
    /// Makes the host wait for all operations on device memory; in host memory a Request's wait()
    /// suffices.
    virtual void synchronize() {}
};

/// The communicator of the backend 'self': one rank without MPI; a collective copies or does
/// nothing.
std::unique_ptr<Communicator> make_self();

}  // namespace ranklab::comm
