#include "device/cuda_check.hpp"

#include <fmt/format.h>

#include <string>

#include "base/error.hpp"
#include "base/log.hpp"

namespace ranklab::device {
namespace {

const char* advice(cudaError_t rc) {
    switch (rc) {
        case cudaErrorMemoryAllocation:
            return "use smaller batches or messages, and see that no other job uses this GPU";
        case cudaErrorNoDevice:
        case cudaErrorInsufficientDriver:
        case cudaErrorSystemDriverMismatch:
        case cudaErrorInvalidDevice:
            return "start it on a node with a GPU and its driver (see nvidia-smi), or compute on the CPU";
        default:
            return "it may come from an earlier kernel: CUDA_LAUNCH_BLOCKING=1 shows where";
    }
}

std::string sentence(cudaError_t rc, const char* call) {
    return fmt::format("{} failed: {} ({}); {}", call, cudaGetErrorString(rc), cudaGetErrorName(rc),
                       advice(rc));
}

}  // namespace

void cuda_check(cudaError_t rc, const char* call) {
    if (rc == cudaSuccess) return;
    static_cast<void>(cudaGetLastError());  // the runtime keeps it, and the next launch would report it again
    if (rc == cudaErrorMemoryAllocation) throw base::CudaError(sentence(rc, call), {"batch-size"});
    throw base::CudaError(sentence(rc, call), {"device cpu"});
}

void cuda_log(cudaError_t rc, const char* call) noexcept {
    if (rc == cudaSuccess || rc == cudaErrorCudartUnloading) return;
    try {
        base::log::warn(sentence(rc, call));
    } catch (...) {  // a text that cannot be made is no reason to end the program
    }
}

}  // namespace ranklab::device
