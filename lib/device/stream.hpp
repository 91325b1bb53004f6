// CUDA streams, events and memory. CUDA's types are only declared, so that the header serves builds
// without CUDA, too. In such a build constructors and copies throw EnvironmentError.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/handle.hpp"

struct CUstream_st;
struct CUevent_st;

namespace ranklab::device {

using StreamHandle = CUstream_st*;  ///< cudaStream_t; nullptr is the legacy default stream
using EventHandle = CUevent_st*;    ///< cudaEvent_t

struct StreamTraits {
    using type = StreamHandle;
    static constexpr type empty = nullptr;
    static void close(type stream) noexcept;
};
struct EventTraits {
    using type = EventHandle;
    static constexpr type empty = nullptr;
    static void close(type event) noexcept;
};

/// A CUDA event. Kind::order is cheaper; Kind::timing can measure times.
class Event {
  public:
    enum class Kind { order, timing };
    explicit Event(Kind kind = Kind::order);

    /// May be called again. Work that already waits for the event still waits for the earlier
    /// record.
    void record(StreamHandle stream);
    bool done() const;  ///< true if never recorded
    /// Both events must be of Kind::timing, recorded and done.
    double seconds_since(const Event& start) const;
    EventHandle get() const { return event_.get(); }

  private:
    base::unique_handle<EventTraits> event_;
};

/// A stream on the GPU that was current at construction. It does not synchronise with the legacy
/// default stream: order work by events.
class Stream {
  public:
    Stream();
    StreamHandle get() const { return stream_.get(); }

  private:
    base::unique_handle<StreamTraits> stream_;
};

/// Has later work on `stream` wait for `event`; does not block the host.
void wait_on(StreamHandle stream, const Event& event);
/// Blocks the host until all work on `stream` is done.
void synchronize(StreamHandle stream);

struct MemoryTraits {
    using type = void*;
    static constexpr type empty = nullptr;
    static void close(type memory) noexcept;
};

/// Memory on the GPU that was current at construction, uninitialised.
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(std::size_t bytes);

    void* data() const { return memory_.get(); }  ///< nullptr if default-constructed or of 0 bytes

  private:
    base::unique_handle<MemoryTraits> memory_;
};

/// Enqueue a copy on `stream`; with pageable host memory the call may block. Do not read or reuse
/// the host memory before the copy is done: synchronize(stream).
void copy_to_device(void* to, const void* from_host, std::size_t bytes, StreamHandle stream);
void copy_to_host(void* to_host, const void* from, std::size_t bytes, StreamHandle stream);
void fill_zero(void* to, std::size_t bytes, StreamHandle stream);

namespace detail {
inline std::atomic<StreamHandle> compute_stream{nullptr};  // owned by the caller that sets it
}

/// The stream on which gradients are written and read. By default nullptr, the legacy default
/// stream that LibTorch uses. Global, not thread-local: hooks of backward run on LibTorch's
/// threads.
inline StreamHandle compute_stream() {
    return detail::compute_stream;
}

/// Sets the compute stream while the object lives, then restores the previous one.
class ComputeStream : base::Immovable {
  public:
    explicit ComputeStream(StreamHandle stream)
        : before_(detail::compute_stream.exchange(stream)) {}
    ~ComputeStream() { detail::compute_stream = before_; }

  private:
    StreamHandle before_;
};

}  // namespace ranklab::device
