// Named ranges for a profiler that records this process (--trace, --nvtx).
#pragma once

#include <atomic>

#include "base/handle.hpp"

namespace ranklab::base {

/// The profiler's callbacks. Any thread calls them; `end` gets the pointer that `begin` returned.
struct AnnotationHooks {
    void* (*begin)(const char* name);
    void (*end)(void* mark);
};
/// Set while a profiler records, to hooks of static lifetime. If nullptr, an Annotation costs one
/// atomic load.
inline std::atomic<const AnnotationHooks*> annotation_hooks{nullptr};

/// A range on the calling thread, from construction to destruction.
class Annotation : Immovable {
  public:
    explicit Annotation(const char* name) : hooks_(annotation_hooks.load()) {
        if (hooks_ != nullptr) mark_ = hooks_->begin(name);
    }
    ~Annotation() {
        if (hooks_ != nullptr) hooks_->end(mark_);
    }

  private:
    const AnnotationHooks* hooks_;
    void* mark_ = nullptr;
};

}  // namespace ranklab::base
