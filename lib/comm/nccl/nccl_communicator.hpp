// libnccl, loaded at first use (docs/adr/0005), and its communicator, ordered with the compute
// stream, for one thread at a time. Private to comm, since it includes nccl.h.
#pragma once

#include <nccl.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/handle.hpp"
#include "comm/communicator.hpp"
#include "device/gpus.hpp"

namespace ranklab::comm {

// The functions in use. Each becomes a member of NcclLibrary with its type in nccl.h.
#define RANKLAB_NCCL_FUNCTIONS(X)             \
    X(get_version, ncclGetVersion)            \
    X(get_error_string, ncclGetErrorString)   \
    X(get_last_error, ncclGetLastError)       \
    X(get_unique_id, ncclGetUniqueId)         \
    X(init_rank, ncclCommInitRankConfig)      \
    X(split, ncclCommSplit)                   \
    X(destroy, ncclCommDestroy)               \
    X(abort, ncclCommAbort)                   \
    X(get_async_error, ncclCommGetAsyncError) \
    X(group_start, ncclGroupStart)            \
    X(group_end, ncclGroupEnd)                \
    X(broadcast, ncclBroadcast)               \
    X(all_reduce, ncclAllReduce)              \
    X(all_gather, ncclAllGather)              \
    X(reduce_scatter, ncclReduceScatter)      \
    X(reduce, ncclReduce)                     \
    X(send, ncclSend)                         \
    X(receive, ncclRecv)

struct NcclLibrary {
#define RANKLAB_NCCL_MEMBER(member, function) decltype(&::function) member = nullptr;
    RANKLAB_NCCL_FUNCTIONS(RANKLAB_NCCL_MEMBER)
#undef RANKLAB_NCCL_MEMBER
    std::string path;  ///< of the loaded file
    int version = 0;   ///< 22809 is 2.28.9

    /// Throws NcclError with the call, NCCL's texts and advice unless rc is ncclSuccess.
    void check(ncclResult_t rc, const char* call) const;
};

/// "2.28.9" for 22809.
std::string nccl_version_text(int version);

/// Paths to try, in order. If RANKLAB_NCCL_LIBRARY is set, its path alone: another library would
/// falsify measurements silently. Otherwise: the build's, the wheel's next to RANKLAB_TORCH_ROOT,
/// the loader's. `lookup` returns nullptr for an unset variable.
std::vector<std::string> nccl_search_path(const std::function<const char*(const char*)>& lookup);

/// Loads the first of `paths` that can be loaded. Throws EnvironmentError with the loader's texts
/// if none can, or if the library is too old. NCCL stays loaded, since its threads go on.
std::shared_ptr<const NcclLibrary> load_nccl(const std::vector<std::string>& paths);
std::shared_ptr<const NcclLibrary> load_nccl();

/// The message of check(). `last_error`: ncclGetLastError's text, may be empty.
std::string nccl_sentence(const char* call, ncclResult_t rc, const std::string& text,
                          const std::string& last_error);

ncclDataType_t nccl_type(DType dtype);
ncclRedOp_t nccl_op(ReduceOp op);

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

    /// Calls ncclCommSplit. Collective.
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
