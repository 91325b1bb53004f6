// The one check of CUDA calls. Private to device: it shows cuda_runtime.h.
#pragma once

#include <cuda_runtime.h>

namespace ranklab::device {

/// Throws CudaError with the call, CUDA's own text and what to do unless rc is cudaSuccess.
void cuda_check(cudaError_t rc, const char* call);
/// For destructors: logs what cuda_check would throw.
void cuda_log(cudaError_t rc, const char* call) noexcept;

}  // namespace ranklab::device
