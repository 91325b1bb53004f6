// libnccl, loaded at first use (docs/adr/0005). Private to comm, since it includes nccl.h.
#pragma once

#include <nccl.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/buffer.hpp"

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

}  // namespace ranklab::comm
