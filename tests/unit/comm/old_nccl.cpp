// A library with all functions in use that reports a version before ncclCommSplit.
#define RANKLAB_OLD_NCCL(function) \
    extern "C" int function() {    \
        return 0;                  \
    }

extern "C" int ncclGetVersion(int* version) {
    *version = 21705;
    return 0;
}
RANKLAB_OLD_NCCL(ncclGetErrorString)
RANKLAB_OLD_NCCL(ncclGetLastError)
RANKLAB_OLD_NCCL(ncclGetUniqueId)
RANKLAB_OLD_NCCL(ncclCommInitRankConfig)
RANKLAB_OLD_NCCL(ncclCommSplit)
RANKLAB_OLD_NCCL(ncclCommDestroy)
RANKLAB_OLD_NCCL(ncclCommAbort)
RANKLAB_OLD_NCCL(ncclCommGetAsyncError)
RANKLAB_OLD_NCCL(ncclGroupStart)
RANKLAB_OLD_NCCL(ncclGroupEnd)
RANKLAB_OLD_NCCL(ncclBroadcast)
RANKLAB_OLD_NCCL(ncclAllReduce)
RANKLAB_OLD_NCCL(ncclAllGather)
RANKLAB_OLD_NCCL(ncclReduceScatter)
RANKLAB_OLD_NCCL(ncclReduce)
RANKLAB_OLD_NCCL(ncclSend)
RANKLAB_OLD_NCCL(ncclRecv)
