// Memory for many values, by large pages where the system has them: a rank that holds all its records at once
// spends a fraction of the page faults on it. Private to this room.
#pragma once

#include <cstddef>
#include <span>

namespace ranklab::io {

class LargeBuffer {
  public:
    LargeBuffer() = default;
    ~LargeBuffer() { release(); }
    LargeBuffer(const LargeBuffer&) = delete;
    LargeBuffer& operator=(const LargeBuffer&) = delete;
    LargeBuffer(LargeBuffer&&) = delete;
    LargeBuffer& operator=(LargeBuffer&&) = delete;

    /// The first `count` values. What they were is lost where the buffer has to grow. std::bad_alloc where
    /// there is no memory.
    std::span<double> get(std::size_t count);
    void release() noexcept;

  private:
    double* data_ = nullptr;
    std::size_t capacity_ = 0;
};

}  // namespace ranklab::io
