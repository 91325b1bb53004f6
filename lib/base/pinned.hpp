// What must stay where it was made.
#pragma once

namespace ranklab::base {

/// A base class that forbids copying and moving, for what must be undone exactly once and is kept as a plain
/// number, pointer or reference. A member that cannot be copied (a handle, a mutex, a unique_ptr) beside a
/// destructor forbids both by itself: such classes need nothing.
class Pinned {
  public:
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;

  protected:
    Pinned() = default;
    ~Pinned() = default;
};

}  // namespace ranklab::base
