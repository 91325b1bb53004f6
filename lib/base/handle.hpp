// Ownership by RAII: a move-only handle, and a base class for objects that cannot move.
#pragma once

#include <utility>

namespace ranklab::base {

/// Forbids copying and moving: for a class whose destructor releases what a plain number, pointer
/// or reference member names. Members such as handle, mutex or unique_ptr already forbid copying.
class Immovable {
  public:
    Immovable(const Immovable&) = delete;
    Immovable& operator=(const Immovable&) = delete;

  protected:
    Immovable() = default;
    ~Immovable() = default;
};

/// Owns a handle of a C library; move-only. `kClose` is called unless the handle is `kEmpty`; it
/// must not throw.
template <class type, type kEmpty, auto kClose>
class unique_handle {
  public:
    unique_handle() noexcept = default;
    explicit unique_handle(type handle) noexcept : handle_(handle) {}
    unique_handle(unique_handle&& other) noexcept : handle_(other.release()) {}
    unique_handle& operator=(unique_handle&& other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }
    unique_handle(const unique_handle&) = delete;
    unique_handle& operator=(const unique_handle&) = delete;
    ~unique_handle() { reset(); }

    type get() const noexcept { return handle_; }
    explicit operator bool() const noexcept { return handle_ != kEmpty; }
    type release() noexcept { return std::exchange(handle_, kEmpty); }
    void reset(type handle = kEmpty) noexcept {
        const type old = std::exchange(handle_, handle);
        if (old != kEmpty) kClose(old);
    }

  private:
    type handle_ = kEmpty;
};

}  // namespace ranklab::base
