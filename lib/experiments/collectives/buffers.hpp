// Send and receive buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "experiments/collectives/message.hpp"

namespace ranklab::experiments {

enum class MemoryKind { pageable, pinned, device };

struct BufferPlan {
    MemoryKind kind = MemoryKind::pageable;
    std::size_t unalign = 0;     ///< offset in bytes from the start of a page
    std::size_t pool_bytes = 0;  ///< --rotate-buffers: bytes to fill with buffers; 0: one buffer
};

/// Bytes of a rank's send and receive buffers.
std::uint64_t memory_of(const Message& message, const BufferPlan& plan);

/// One rank's buffers, used by one message after the other.
class Buffers {
  public:
    /// Allocates `bytes` at once, so that a lack of memory shows before anything is timed.
    explicit Buffers(const BufferPlan& plan, std::uint64_t bytes = 0);

    /// Returns the transfers that calls use in turn: one, or as many as the rotating pool holds.
    /// Valid until the next transfers(). Throws EnvironmentError if the memory cannot be allocated
    /// or locked.
    std::vector<comm::Transfer> transfers(const Message& message, int root, int rank);

  private:
    void reserve(std::size_t bytes);

    BufferPlan plan_;
    std::shared_ptr<char> memory_;  // zeroed, starts at a page
    std::size_t bytes_ = 0;
};

}  // namespace ranklab::experiments
