// One NCCL communicator with a stream of its own, and the order between that stream and the compute stream.
// Private to comm: it shows nccl.h. Not for several threads at once.
#pragma once

#include <nccl.h>

#include <memory>
#include <string>
#include <vector>

#include "base/handle.hpp"
#include "comm/nccl/library.hpp"
#include "device/stream.hpp"

namespace ranklab::comm {

/// Which rank of how many, on which GPU. `gpu` -1: the one that NCCL finds selected.
struct NcclPlace {
    int rank = 0;
    int ranks = 1;
    int gpu = 0;
};

/// ncclCommInitRankConfig: waits for the other ranks.
ncclComm_t init_nccl_rank(const NcclLibrary& library, const ncclUniqueId& id, const NcclPlace& place);

class NcclChannel : base::Pinned {
  public:
    /// Takes over `comm`. The calling thread's GPU becomes `place.gpu`.
    NcclChannel(std::shared_ptr<const NcclLibrary> library, ncclComm_t comm, const NcclPlace& place);
    /// Destroys the communicator, or aborts it where an error is on its way: the other ranks may not come.
    ~NcclChannel();

    /// put(library, comm, stream) enqueues one operation, named `call`, after what is on the compute stream.
    template <class Put>
    void enqueue(const char* call, Put put) {
        begin(call);
        end(call, put(*library_, comm_, stream_.get()));
    }
    /// The same for several operations that NCCL may then run as one: put() is called between ncclGroupStart
    /// and ncclGroupEnd.
    template <class Put>
    void enqueue_group(const char* call, Put put) {
        begin(call);
        end(call, library_->group_start());
        const ncclResult_t rc = put(*library_, comm_, stream_.get());
        const ncclResult_t end_rc = library_->group_end();  // also after an error: it closes the group
        end(call, rc != ncclSuccess ? rc : end_rc);
    }

    /// The point in our stream after all that was enqueued until now. recycle() takes it back.
    device::Event mark();
    void recycle(device::Event event);
    /// What comes on the compute stream waits for `event`; the host does not.
    void order_compute_after(const device::Event& event);
    bool done(const device::Event& event);
    /// The host waits for all that was enqueued.
    void synchronize();

    /// ncclCommSplit. `place` is this rank's in the part.
    std::shared_ptr<NcclChannel> split(int color, int key, NcclPlace place);

    int gpu() const { return place_.gpu; }

  private:
    void begin(const char* call);
    void end(const char* call, ncclResult_t rc);
    void check_async();
    void need_alive() const;
    void abort() noexcept;
    [[noreturn]] void fail(const std::string& sentence);

    std::shared_ptr<const NcclLibrary> library_;
    ncclComm_t comm_;  // nullptr once aborted
    NcclPlace place_;
    device::Stream stream_;
    device::Event ready_;                // of the compute stream; recorded anew for each operation
    std::vector<device::Event> events_;  // to be used again: making one costs more than an operation
    const char* last_call_ = "nothing";  // for the sentence about what failed
    std::string failure_;                // why it was aborted
};

}  // namespace ranklab::comm
