// The phases of a step, and the two verbs by which a room below measure/ marks them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/annotation.hpp"
#include "base/handle.hpp"
#include "base/progress.hpp"

namespace ranklab::base {

/// Phases in the order of a step. Scatter, replicate, gather and reduce belong to --mode dp, sync
/// to the other modes. The names are the glossary's; the measurements are <name>_time_s.
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

/// Where phases are marked. measure::PhaseRecorder is the one that keeps the times.
class PhaseSink {
  public:
    virtual ~PhaseSink() = default;
    virtual void enter(Phase phase) = 0;
    virtual void leave(Phase phase) = 0;

    /// Marks a phase for the lifetime of the returned object:
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
