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

/// Owns a handle of a C library; move-only. Traits name the type, the empty value and the close:
///   struct FileTraits { using type = hid_t; static constexpr type empty = -1;
///                       static void close(type) noexcept; };
/// close logs its errors and does not throw.
template <class Traits>
class unique_handle {
  public:
    using type = typename Traits::type;

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
    explicit operator bool() const noexcept { return handle_ != Traits::empty; }
    type release() noexcept { return std::exchange(handle_, Traits::empty); }
    void reset(type handle = Traits::empty) noexcept {
        const type old = std::exchange(handle_, handle);
        if (old != Traits::empty) Traits::close(old);
    }

  private:
    type handle_ = Traits::empty;
};

}  // namespace ranklab::base
