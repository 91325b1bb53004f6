// GPUs, streams and memory by the runtime of CUDA, or of ROCm.
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "device/gpus.hpp"
#include "device/runtime.hpp"

#ifndef RANKLAB_ROCM
// Declared here because cuda_profiler_api.h is missing in some runtime packages.
extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();
#endif

namespace ranklab::device {
namespace {

const char* advice(cudaError_t rc) {
    switch (rc) {
        case cudaErrorMemoryAllocation:
            return "use smaller batches or messages, and check nvidia-smi for other jobs on this "
                   "GPU";
        case cudaErrorNoDevice:
        case cudaErrorInsufficientDriver:
        case cudaErrorSystemDriverMismatch:
        case cudaErrorInvalidDevice:
            return "run on a node with a GPU and its driver (check nvidia-smi), or compute on the "
                   "CPU";
        default:
            return "an earlier kernel may be the cause; CUDA_LAUNCH_BLOCKING=1 shows which";
    }
}

std::string sentence(cudaError_t rc, const char* call) {
    return fmt::format("{} failed: {} ({}); {}", call, cudaGetErrorString(rc), cudaGetErrorName(rc),
                       advice(rc));
}

void cuda_check(cudaError_t rc, const char* call) {
    if (rc == cudaSuccess) return;
    // Clears the error; otherwise the next launch would report it again.
    static_cast<void>(cudaGetLastError());
    if (rc == cudaErrorMemoryAllocation)
        throw base::EnvironmentError(sentence(rc, call), {"batch-size"});
    throw base::EnvironmentError(sentence(rc, call), {"device cpu"});
}

// For destructors: logs what cuda_check would throw.
void cuda_log(cudaError_t rc, const char* call) noexcept {
    if (rc == cudaSuccess || rc == cudaErrorCudartUnloading) return;
    try {
        base::log::warn(sentence(rc, call));
    } catch (...) {  // a destructor must not throw
    }
}

std::string uuid_text(const cudaUUID_t& uuid) {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
    }
    return text;
}

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, StreamHandle stream) {
    if (bytes != 0) cuda_check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
}

}  // namespace

GpuList list_gpus() {
    int count = 0;
    const cudaError_t rc = cudaGetDeviceCount(&count);
    if (rc != cudaSuccess)
        return {{}, fmt::format("no GPU can be used: {}", cudaGetErrorString(rc))};
    GpuList list;
    for (int i = 0; i < count; ++i) {
        cudaDeviceProp properties{};
        char pci[32] = "";
        if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
        if (cudaDeviceGetPCIBusId(pci, sizeof pci, i) != cudaSuccess) pci[0] = '\0';
        list.gpus.push_back({properties.name, pci,
                             static_cast<std::int64_t>(properties.totalGlobalMem),
                             uuid_text(uuid_of(properties, i))});
    }
    if (list.gpus.empty()) list.why_none = "the CUDA runtime lists no GPU";
    return list;
}

// Without a GPU both calls fail. The error is cleared, since there is nothing to record.
void start_cuda_profiler() {
    if (cudaProfilerStart() != cudaSuccess) static_cast<void>(cudaGetLastError());
}
void stop_cuda_profiler() {
    if (cudaProfilerStop() != cudaSuccess) static_cast<void>(cudaGetLastError());
}

void select_gpu(int index) {
    cuda_check(cudaSetDevice(index), "cudaSetDevice");
}

std::string cuda_runtime_version() {
    int version = 0;
    if (cudaRuntimeGetVersion(&version) != cudaSuccess) return "unknown";
    return fmt::format("{}.{}", version / kMajorUnit, version % kMajorUnit / kMinorUnit);
}

void close_stream(StreamHandle stream) noexcept {
    cuda_log(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

void close_event(EventHandle event) noexcept {
    cuda_log(cudaEventDestroy(event), "cudaEventDestroy");
}

Event::Event(Kind kind) {
    cudaEvent_t event = nullptr;
    const unsigned flags = kind == Kind::timing ? cudaEventDefault : cudaEventDisableTiming;
    cuda_check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
    reset(event);
}

void Event::record(StreamHandle stream) {
    cuda_check(cudaEventRecord(get(), stream), "cudaEventRecord");
}

bool Event::done() const {
    const cudaError_t rc = cudaEventQuery(get());
    if (rc == cudaErrorNotReady) return false;
    cuda_check(rc, "cudaEventQuery");
    return true;
}

double Event::seconds_since(const Event& start) const {
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, start.get(), get()), "cudaEventElapsedTime");
    return milliseconds / 1e3;
}

Stream::Stream() {
    cudaStream_t stream = nullptr;
    cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
    reset(stream);
}

void wait_on(StreamHandle stream, const Event& event) {
    cuda_check(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
}

void synchronize(StreamHandle stream) {
    cuda_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void close_memory(void* memory) noexcept {
    cuda_log(cudaFree(memory), "cudaFree");
}

Buffer::Buffer(std::size_t bytes) {
    if (bytes == 0) return;
    void* memory = nullptr;
    cuda_check(cudaMalloc(&memory, bytes), "cudaMalloc");
    reset(memory);
}

void copy_to_device(void* to, const void* from_host, std::size_t bytes, StreamHandle stream) {
    copy(to, from_host, bytes, cudaMemcpyHostToDevice, stream);
}

void copy_to_host(void* to_host, const void* from, std::size_t bytes, StreamHandle stream) {
    copy(to_host, from, bytes, cudaMemcpyDeviceToHost, stream);
}

void fill_zero(void* to, std::size_t bytes, StreamHandle stream) {
    if (bytes != 0) cuda_check(cudaMemsetAsync(to, 0, bytes, stream), "cudaMemsetAsync");
}

}  // namespace ranklab::device
