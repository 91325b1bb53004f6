// GPU memory and copies to and from it. In a build without CUDA, all functions throw CudaError.
#pragma once

#include <cstddef>

#include "base/handle.hpp"
#include "device/stream.hpp"

namespace ranklab::device {

struct MemoryTraits {
    using type = void*;
    static constexpr type empty = nullptr;
    static void close(type memory) noexcept;
};

/// Owns `bytes` bytes on the GPU that was current at construction, uninitialised.
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(std::size_t bytes);

    void* data() const { return memory_.get(); }  ///< nullptr if default-constructed or of 0 bytes
    std::size_t bytes() const { return memory_ ? bytes_ : 0; }

  private:
    base::unique_handle<MemoryTraits> memory_;
    std::size_t bytes_ = 0;
};

/// Enqueue a copy on `stream`; with pageable host memory the call may block. Do not read or reuse
/// the host memory before the copy is done: synchronize(stream).
void copy_to_device(void* to, const void* from_host, std::size_t bytes, StreamHandle stream);
void copy_to_host(void* to_host, const void* from, std::size_t bytes, StreamHandle stream);
void fill_zero(void* to, std::size_t bytes, StreamHandle stream);

}  // namespace ranklab::device
