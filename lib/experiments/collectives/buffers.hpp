// Send and receive buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/handle.hpp"
#include "device/memory.hpp"
#include "experiments/collectives/message.hpp"

namespace ranklab::experiments {

enum class MemoryKind { pageable, pinned, device };

struct BufferPlan {
    MemoryKind kind = MemoryKind::pageable;
    std::size_t unalign = 0;  ///< offset in bytes from a page's begin
    std::size_t pool_bytes =
        0;  ///< --rotate-buffers: calls use different parts of it; 0: one buffer
};

/// Bytes of a rank's send and receive buffers.
struct MemoryNeed {
    std::uint64_t send = 0, receive = 0;
};
MemoryNeed memory_of(const Message& message, const BufferPlan& plan, int ranks);

/// Zeroed memory that begins at a page.
class Memory {
  public:
    Memory() = default;
    /// Throws EnvironmentError if the memory cannot be allocated or locked.
    Memory(std::size_t bytes, MemoryKind kind);
    char* data() const { return pages_ ? pages_.get() : static_cast<char*>(device_.data()); }
    /// Allocates anew if smaller than `bytes`; the contents are lost.
    void ensure(std::size_t bytes, MemoryKind kind);

  private:
    std::shared_ptr<char> pages_;
    device::Buffer device_;
    std::size_t bytes_ = 0;
};

/// One rank's buffers, used by one message after the other.
class Buffers {
  public:
    /// Allocates `need` at once, so that a lack of memory shows before anything is timed.
    explicit Buffers(const BufferPlan& plan, const MemoryNeed& need = {});

    /// The transfers that calls use in turn: one, or with rotation as many as the pool holds. Valid
    /// until the next call.
    std::vector<comm::Transfer> transfers(const Message& message, int root, int ranks, int rank);

  private:
    BufferPlan plan_;
    Memory send_, receive_;
};

}  // namespace ranklab::experiments
