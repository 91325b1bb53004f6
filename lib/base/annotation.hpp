// Names for pieces of work, which a profiler of the process shows among its own events.
#pragma once

#include <atomic>

#include "base/handle.hpp"

namespace ranklab::base {

/// A profiler's functions: they are called by any thread, end with what begin returned.
struct AnnotationHooks {
    void* (*begin)(const char* name);
    void (*end)(void* mark);
};
/// nullptr: nothing is profiled, and an annotation costs a load. The hooks live as long as the
/// process.
inline std::atomic<const AnnotationHooks*> annotation_hooks{nullptr};

/// The work of this thread while it lives.
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
