// Includes the CUDA runtime, or with RANKLAB_ROCM the HIP runtime under CUDA's names. Private to
// lib/device.
#pragma once

#ifndef RANKLAB_ROCM

#include <cuda_runtime.h>

namespace ranklab::device {

/// cudaRuntimeGetVersion gives 12080 for 12.8.
inline constexpr int kMajorUnit = 1000, kMinorUnit = 10;
inline cudaUUID_t uuid_of(const cudaDeviceProp& properties, int) {
    return properties.uuid;
}

}  // namespace ranklab::device

#else

#include <hip/hip_runtime_api.h>

#define cudaDeviceGetPCIBusId hipDeviceGetPCIBusId
#define cudaDeviceProp hipDeviceProp_t
#define cudaError_t hipError_t
#define cudaErrorCudartUnloading hipErrorDeinitialized
#define cudaErrorInsufficientDriver hipErrorInsufficientDriver
#define cudaErrorInvalidDevice hipErrorInvalidDevice
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorNoDevice hipErrorNoDevice
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorSystemDriverMismatch hipErrorNotInitialized
#define cudaEventCreateWithFlags hipEventCreateWithFlags
#define cudaEventDefault hipEventDefault
#define cudaEventDestroy hipEventDestroy
#define cudaEventDisableTiming hipEventDisableTiming
#define cudaEventElapsedTime hipEventElapsedTime
#define cudaEventQuery hipEventQuery
#define cudaEventRecord hipEventRecord
#define cudaEvent_t hipEvent_t
#define cudaFree hipFree
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaGetErrorName hipGetErrorName
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaMalloc hipMalloc
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyKind hipMemcpyKind
#define cudaMemsetAsync hipMemsetAsync
#define cudaProfilerStart hipProfilerStart
#define cudaProfilerStop hipProfilerStop
#define cudaRuntimeGetVersion hipRuntimeGetVersion
#define cudaSetDevice hipSetDevice
#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaStream_t hipStream_t
#define cudaSuccess hipSuccess
#define cudaUUID_t hipUUID

namespace ranklab::device {

/// hipRuntimeGetVersion gives 50221153 for 5.2.
inline constexpr int kMajorUnit = 10'000'000, kMinorUnit = 100'000;
/// Returns zeros if the runtime does not know the GPU's UUID.
inline cudaUUID_t uuid_of(const cudaDeviceProp&, int index) {
    cudaUUID_t uuid{};
    static_cast<void>(hipDeviceGetUuid(&uuid, index));
    return uuid;
}

}  // namespace ranklab::device

#endif
