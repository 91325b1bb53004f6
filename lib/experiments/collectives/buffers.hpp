// The memory that messages are sent from and received into.
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
    std::size_t unalign = 0;  ///< bytes behind a page's begin
    /// The least size of the pool, of which each call takes another part; 0: no rotation.
    std::size_t pool_bytes = 0;
};

/// The bytes that a rank needs for the message and for other calls. Each buffer stays as large as
/// the largest message.
struct MemoryNeed {
    std::uint64_t send = 0, receive = 0;
};
MemoryNeed memory_of(const Message& message, const BufferPlan& plan, int ranks);

/// One piece of memory, zeroed, which begins at a page.
class Memory {
  public:
    Memory() = default;
    /// EnvironmentError where there is no room, or the system locks no pages.
    Memory(std::size_t bytes, MemoryKind kind);
    char* data() const { return pages_ ? pages_.get() : static_cast<char*>(device_.data()); }
    /// Becomes a new one where it is smaller.
    void ensure(std::size_t bytes, MemoryKind kind);

  private:
    std::shared_ptr<char> pages_;
    device::Buffer device_;
    std::size_t bytes_ = 0;
};

/// One rank's buffers, for one message after the other; they grow to the largest message.
class Buffers {
  public:
    /// With room for that at once, so that what cannot be had is known before anything is timed.
    explicit Buffers(const BufferPlan& plan, const MemoryNeed& need = {});

    /// The transfers that calls take in turn: one, or with rotation as many as the pool holds.
    /// Valid until it is called again.
    std::vector<comm::Transfer> transfers(const Message& message, int root, int ranks, int rank);

  private:
    BufferPlan plan_;
    Memory send_, receive_;
};

}  // namespace ranklab::experiments
