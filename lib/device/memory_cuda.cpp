#include "device/memory.hpp"

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

namespace ranklab::device {
namespace {

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, StreamHandle stream) {
    if (bytes != 0) cuda_check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
}

}  // namespace

void MemoryTraits::close(type memory) noexcept {
    cuda_log(cudaFree(memory), "cudaFree");
}

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    void* memory = nullptr;
    cuda_check(cudaMalloc(&memory, bytes), "cudaMalloc");
    memory_.reset(memory);
}

void copy_to_device(void* to, const void* from_host, std::size_t bytes, StreamHandle stream) {
    copy(to, from_host, bytes, cudaMemcpyHostToDevice, stream);
}

void copy_to_host(void* to_host, const void* from, std::size_t bytes, StreamHandle stream) {
    copy(to_host, from, bytes, cudaMemcpyDeviceToHost, stream);
}

void copy_on_device(void* to, const void* from, std::size_t bytes, StreamHandle stream) {
    copy(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

void fill_zero(void* to, std::size_t bytes, StreamHandle stream) {
    if (bytes != 0) cuda_check(cudaMemsetAsync(to, 0, bytes, stream), "cudaMemsetAsync");
}

}  // namespace ranklab::device
