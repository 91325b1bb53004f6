// Keeps the time of every phase of every step of this rank. steady_clock, read at each mark; no
// allocation, no I/O and no synchronisation inside a step.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "base/phase.hpp"

namespace ranklab::measure {

using Clock = std::chrono::steady_clock;

/// Seconds of one step: the whole, and what was spent in each phase (0 where a phase was not marked).
struct StepTimes {
    double step = 0;
    std::array<double, base::kPhaseCount> phases{};
};

class PhaseRecorder final : public base::PhaseSink {
  public:
    /// Reserves for this many steps, so that recording does not allocate.
    explicit PhaseRecorder(std::size_t expected_steps) { steps_.reserve(expected_steps); }

    void begin_step() {
        current_ = {};
        step_start_ = Clock::now();
    }
    void end_step() {
        current_.step = seconds_since(step_start_);
        steps_.push_back(current_);
    }
    /// For whoever knows better than the host's clock, of the step that ended last.
    void correct_last(base::Phase phase, double seconds) {
        steps_.back().phases[static_cast<std::size_t>(phase)] = seconds;
    }
    /// A phase may be entered several times a step: the times add up. Phases do not nest.
    void enter(base::Phase) override { phase_start_ = Clock::now(); }
    void leave(base::Phase phase) override {
        const auto index = static_cast<std::size_t>(phase);
        last_[index] = {phase_start_, Clock::now()};
        current_.phases[index] += std::chrono::duration<double>(last_[index].end - phase_start_).count();
    }

    struct Span {
        Clock::time_point begin;
        Clock::time_point end;
    };
    /// When the phase was last entered and left; and when the step began.
    Span last(base::Phase phase) const { return last_[static_cast<std::size_t>(phase)]; }
    Clock::time_point step_start() const { return step_start_; }

    const std::vector<StepTimes>& steps() const { return steps_; }

  private:
    static double seconds_since(Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    }

    std::vector<StepTimes> steps_;
    StepTimes current_;
    Clock::time_point step_start_;
    Clock::time_point phase_start_;
    std::array<Span, base::kPhaseCount> last_{};
};

}  // namespace ranklab::measure
