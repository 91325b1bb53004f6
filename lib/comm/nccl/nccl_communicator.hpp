// The NCCL backend: its communicator, ordered with the compute stream. Private to comm, since it
// includes nccl.h. For one thread at a time.
#pragma once

#include <nccl.h>

#include <memory>
#include <string>
#include <vector>

#include "base/handle.hpp"
#include "comm/communicator.hpp"
#include "comm/nccl/library.hpp"
#include "device/stream.hpp"

namespace ranklab::comm {

/// ncclCommInitRankConfig on the selected GPU: waits for the other ranks.
ncclComm_t init_nccl_rank(const NcclLibrary& library, const ncclUniqueId& id, int rank, int ranks);

/// An NCCL communicator with a stream of its own.
class NcclChannel : base::Immovable {
  public:
    /// Takes over `comm`. The calling thread's GPU becomes `gpu`.
    NcclChannel(std::shared_ptr<const NcclLibrary> library, ncclComm_t comm, int gpu);
    /// Destroys the communicator. During stack unwinding aborts it: other ranks may be gone.
    ~NcclChannel();

    /// Calls put(library, comm, stream) to enqueue one operation after the work on the compute
    /// stream. `call`: the operation's name, for errors.
    template <class Put>
    void enqueue(const char* call, Put put) {
        begin(call);
        end(call, put(*library_, comm_, stream_.get()));
    }
    /// Returns an event after all operations enqueued so far; pass it to recycle() when done.
    device::Event mark();
    void recycle(device::Event event);
    /// Later work on the compute stream waits for `event`; the host does not.
    void order_compute_after(const device::Event& event);
    bool done(const device::Event& event);
    /// Makes the host wait for all enqueued operations.
    void synchronize();

    /// ncclCommSplit.
    std::shared_ptr<NcclChannel> split(int color, int key);

  private:
    void begin(const char* call);
    void end(const char* call, ncclResult_t rc);
    void check_async();
    void need_alive() const;
    void abort() noexcept;
    [[noreturn]] void fail(const std::string& sentence);

    std::shared_ptr<const NcclLibrary> library_;
    ncclComm_t comm_;  // nullptr once aborted
    int gpu_;
    device::Stream stream_;
    device::Event ready_;                // on the compute stream, recorded for each operation
    std::vector<device::Event> events_;  // reused: creating one costs more than an operation
    const char* last_call_ = "nothing";  // for error messages
    std::string failure_;                // why the communicator was aborted
};

class NcclCommunicator final : public Communicator {
  public:
    /// `control`: a communicator of the same ranks in host memory, used for nothing else.
    NcclCommunicator(std::shared_ptr<NcclChannel> channel, std::unique_ptr<Communicator> control);

    int rank() const override { return control_->rank(); }
    int world_size() const override { return control_->world_size(); }
    int local_rank() const override { return control_->local_rank(); }
    int local_size() const override { return control_->local_size(); }

    void barrier() override;
    Request start(const Transfer& transfer) override;
    BufferView result_of(const Transfer& transfer) const override;
    std::unique_ptr<Communicator> split(int color, int key) override;
    void synchronize() override { channel_->synchronize(); }

  private:
    std::unique_ptr<Communicator> control_;
    std::shared_ptr<NcclChannel> channel_;  // shared with requests under way
    device::Buffer scratch_;                // reduced by barrier()
};

}  // namespace ranklab::comm
