// CUDA streams and events. CUDA's own types are only declared here, so that the header is the same
// in a build without CUDA, where making one throws CudaError.
#pragma once

#include <atomic>

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

/// A point in a stream. One that is only for ordering is cheaper than one that can be timed.
class Event {
  public:
    enum class Kind { order, timing };
    explicit Event(Kind kind = Kind::order);

    /// May be called repeatedly; work that waits for the earlier point is not affected.
    void record(StreamHandle stream);
    bool done() const;         ///< also true if never recorded
    void synchronize() const;  ///< the host waits
    /// Both recorded with Kind::timing and done.
    double seconds_since(const Event& start) const;
    EventHandle get() const { return event_.get(); }

  private:
    base::unique_handle<EventTraits> event_;
};

/// A stream on the GPU that is selected when it is made. It does not wait for the legacy default
/// stream: events order the work.
class Stream {
  public:
    Stream();
    StreamHandle get() const { return stream_.get(); }

  private:
    base::unique_handle<StreamTraits> stream_;
};

/// Later work on `stream` waits for `event`; the host does not.
void wait_on(StreamHandle stream, const Event& event);
/// The host waits for all that is on `stream`.
void synchronize(StreamHandle stream);

namespace detail {
inline std::atomic<StreamHandle> compute_stream{
    nullptr};  // a setting, not an owner: who sets it owns the stream
}

/// The stream on which gradients are written and read. nullptr, until it is set, means the legacy
/// default stream, which LibTorch uses. It belongs to the process, not the thread: backward's hooks
/// run on threads of LibTorch's own.
inline StreamHandle compute_stream() {
    return detail::compute_stream;
}

/// Sets the compute stream while it lives.
class ComputeStream : base::Immovable {
  public:
    explicit ComputeStream(StreamHandle stream)
        : before_(detail::compute_stream.exchange(stream)) {}
    ~ComputeStream() { detail::compute_stream = before_; }

  private:
    StreamHandle before_;
};

}  // namespace ranklab::device
