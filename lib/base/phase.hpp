// The phases of a training step, the interface by which libraries below lib/measure mark them, and
// named ranges for a profiler that records this process (--trace, --nvtx).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

#include "base/handle.hpp"
#include "base/progress.hpp"

namespace ranklab::base {

/// The profiler's callbacks. Any thread calls them; `end` gets the pointer that `begin` returned.
struct AnnotationHooks {
    void* (*begin)(const char* name);
    void (*end)(void* mark);
};
/// The hooks of the profiler while it records (objects of static lifetime), otherwise nullptr: then
/// an Annotation costs one atomic load.
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

/// In the order of a step. scatter, replicate, gather and reduce occur in --mode dp only, sync in
/// the other modes only.
enum class Phase : std::size_t {
    data,
    copy,
    scatter,
    replicate,
    forward,
    gather,
    backward,
    reduce,
    sync,
    optimizer
};

inline constexpr std::array<std::string_view, 10> kPhaseNames{
    "data",   "copy",     "scatter", "replicate", "forward",
    "gather", "backward", "reduce",  "sync",      "optimizer"};
inline constexpr std::size_t kPhaseCount = kPhaseNames.size();

/// Receives the begin and end of each phase. measure::PhaseRecorder keeps the times.
class PhaseSink {
  public:
    virtual ~PhaseSink() = default;
    virtual void enter(Phase phase) = 0;
    virtual void leave(Phase phase) = 0;

    /// Marks a phase until the returned object is destroyed:
    ///   auto p = sink.phase(Phase::backward);
    class PhaseScope : Immovable {
      public:
        PhaseScope(PhaseSink& sink, Phase phase)
            : sink_(sink),
              phase_(phase),
              annotation_(kPhaseNames[static_cast<std::size_t>(phase)].data()) {
            sink_.enter(phase_);
        }
        ~PhaseScope() {
            sink_.leave(phase_);
            count_progress();
        }

      private:
        PhaseSink& sink_;
        Phase phase_;
        Annotation annotation_;
    };
    [[nodiscard]] PhaseScope phase(Phase phase) { return PhaseScope(*this, phase); }
};

}  // namespace ranklab::base
