#include <atomic>

#include "device/stream.hpp"

namespace ranklab::device {
namespace {

// A setting, not an owner: whoever sets it owns the stream.
std::atomic<StreamHandle> current{nullptr};

}  // namespace

StreamHandle compute_stream() {
    return current.load(std::memory_order_acquire);
}

ComputeStream::ComputeStream(StreamHandle stream)
    : before_(current.exchange(stream, std::memory_order_acq_rel)) {}

ComputeStream::~ComputeStream() {
    current.store(before_, std::memory_order_release);
}

}  // namespace ranklab::device
