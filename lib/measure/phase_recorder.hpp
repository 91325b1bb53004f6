// Keeps the time of every phase of every step of this rank. steady_clock, read at each mark; no
// allocation, no I/O and no synchronisation inside a step. Between steps, in a long run, a block of old steps
// goes to a file now and then (measure/spool.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include "base/cast.hpp"
#include "base/clock.hpp"
#include "base/phase.hpp"
#include "measure/spool.hpp"

namespace ranklab::measure {

using Clock = std::chrono::steady_clock;

/// Seconds of one step: the whole, and what was spent in each phase (0 where a phase was not marked).
struct StepTimes {
    double step = 0;
    std::array<double, base::kPhaseCount> phases{};
};
/// The columns of a spool of steps: the whole step, then the phases in base::Phase's order.
inline constexpr std::size_t kStepColumns = 1 + base::kPhaseCount;

class PhaseRecorder final : public base::PhaseSink {
  public:
    PhaseRecorder() : spool_(kStepColumns) {}

    void begin_step() {
        current_ = {};
        step_start_ = Clock::now();
    }
    void end_step() {
        current_.step = base::seconds_since(step_start_);
        std::array<double, kStepColumns> row{current_.step};
        std::copy(current_.phases.begin(), current_.phases.end(), row.begin() + 1);
        spool_.push(row);
    }
    /// For whoever knows better than the host's clock, of the step that ended last.
    void correct_last(base::Phase phase, double seconds) {
        current_.phases[base::number_of(phase)] = seconds;
        spool_.amend(1 + base::number_of(phase), seconds);
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

    std::size_t count() const { return spool_.rows(); }
    /// The step that ended last.
    const StepTimes& last_step() const { return current_; }
    /// All steps so far, kStepColumns columns; and the same, leaving the recorder without any.
    const Spool& spool() const { return spool_; }
    Spool take() { return std::exchange(spool_, Spool(kStepColumns)); }

  private:
    Spool spool_;
    StepTimes current_;
    Clock::time_point step_start_;
    Clock::time_point phase_start_;
    std::array<Span, base::kPhaseCount> last_{};
};

}  // namespace ranklab::measure
