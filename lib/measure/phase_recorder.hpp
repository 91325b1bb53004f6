// Keeps the time of every phase of every step of this rank. steady_clock, read at each mark; no
// allocation, no I/O and no synchronisation inside a step.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/numbers.hpp"
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
    /// So many steps are to come: none of them waits for memory.
    void reserve(std::size_t steps) { steps_.reserve(steps); }

    void begin_step() {
        current_ = {};
        step_start_ = Clock::now();
    }
    void end_step() {
        current_.step = base::seconds_since(step_start_);
        steps_.push_back(current_);
    }
    /// For whoever knows better than the host's clock, of the step that ended last.
    void correct_last(base::Phase phase, double seconds) {
        current_.phases[base::number_of(phase)] = seconds;
        steps_.back().phases[base::number_of(phase)] = seconds;
    }
    /// A phase may be entered several times a step: the times add up. Phases do not nest.
    void enter(base::Phase) override { phase_start_ = Clock::now(); }
    void leave(base::Phase phase) override {
        const auto index = base::number_of(phase);
        last_[index] = {phase_start_, Clock::now()};
        current_.phases[index] += base::seconds_between(phase_start_, last_[index].end);
    }

    struct Span {
        Clock::time_point begin;
        Clock::time_point end;
    };
    /// When the phase was last entered and left; and when the step began.
    Span last(base::Phase phase) const { return last_[base::number_of(phase)]; }
    Clock::time_point step_start() const { return step_start_; }

    /// The step that ended last.
    const StepTimes& last_step() const { return current_; }
    /// All steps so far; and the same, leaving the recorder without any.
    const std::vector<StepTimes>& steps() const { return steps_; }
    std::vector<StepTimes> take() { return std::exchange(steps_, {}); }

  private:
    std::vector<StepTimes> steps_;
    StepTimes current_;
    Clock::time_point step_start_;
    Clock::time_point phase_start_;
    std::array<Span, base::kPhaseCount> last_{};
};

}  // namespace ranklab::measure
