// A run's samples: which steps count, the times of their phases, and every rank's together.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "base/phase.hpp"
#include "comm/communicator.hpp"

namespace ranklab::measure {

/// Steps first .. first+warmup-1 are recorded and excluded; the others up to total-1 count.
struct Schedule {
    std::int64_t warmup = 0;
    std::int64_t total = 0;
    std::int64_t steps_per_epoch = 1;
    std::int64_t first = 0;  ///< those before it were done by the run that this one goes on from

    std::int64_t counted() const { return total - first - warmup; }
    bool counts(std::int64_t step) const { return step >= first + warmup; }
    std::int64_t epoch_of(std::int64_t step) const { return step / steps_per_epoch; }
    bool ends_epoch(std::int64_t step) const { return (step + 1) % steps_per_epoch == 0; }
};

/// The interface's default: min(10, steps/10).
std::int64_t default_warmup(std::int64_t steps);

/// `steps` counted steps after `warmup` more.
Schedule schedule_steps(std::int64_t steps, std::int64_t warmup, std::int64_t steps_per_epoch);

/// Schedules whole epochs; the warm-up is the beginning of the first one, since an epoch has every
/// sample once. OptionError where nothing is left to measure.
Schedule schedule_epochs(std::int64_t epochs, std::int64_t warmup, std::int64_t steps_per_epoch);

/// The rest of a plan of which `completed` steps are done. As many first steps as planned are
/// warm-up again, but at least one step counts. OptionError where nothing is left.
Schedule resume_after(Schedule schedule, std::int64_t completed);

using Clock = std::chrono::steady_clock;

/// Seconds of one step: the whole, and what was spent in each phase (0 where a phase was not
/// marked).
struct StepTimes {
    double step = 0;
    std::array<double, base::kPhaseCount> phases{};
};

/// Keeps the time of every phase of every step of this rank. It reads steady_clock at each mark; no
/// allocation, no I/O and no synchronisation inside a step.
class PhaseRecorder final : public base::PhaseSink {
  public:
    /// So many steps are to come: none of them waits for memory.
    void reserve(std::size_t steps) { steps_.reserve(steps); }

    void begin_step();
    void end_step();
    /// Corrects times of the last ended step that the host's clock cannot measure.
    void correct_last(base::Phase phase, double seconds);
    /// A phase may be entered several times a step: the times add up. Phases do not nest.
    void enter(base::Phase phase) override;
    void leave(base::Phase phase) override;

    struct Span {
        Clock::time_point begin;
        Clock::time_point end;
    };
    /// When the phase was last entered and left; and when the step began.
    Span last(base::Phase phase) const { return last_[base::number_of(phase)]; }
    Clock::time_point step_start() const { return step_start_; }
    /// The host's seconds of each phase in all steps so far.
    const std::array<double, base::kPhaseCount>& host_seconds() const { return host_; }

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
    std::array<double, base::kPhaseCount> host_{};
};

/// The values of rows x ranks, row-major.
struct RankSamples {
    std::size_t ranks = 1;
    std::vector<double> values;

    std::size_t rows() const { return ranks == 0 ? 0 : values.size() / ranks; }
    double at(std::size_t row, std::size_t rank) const { return values[row * ranks + rank]; }
};

// These are collective, with equally many rows on all ranks. Data is gathered in pieces of 256 KiB,
// or of a row.

/// Every rank's column; the same on every rank. For what needs each rank's value everywhere.
RankSamples gather_columns(comm::Communicator& control, std::span<const double> mine);
/// The columns of ranks 0 .. ranks - 1 on rank 0. The other ranks get one column, the rows' maxima.
RankSamples gather_samples(comm::Communicator& control, std::span<const double> mine,
                           std::size_t ranks);

/// These return in each row the largest of the ranks' values, or their sum, by one reduction of the
/// whole column. The bits of a sum may depend on the ranks' places.
std::vector<double> largest_of_ranks(comm::Communicator& control, std::vector<double> mine);
std::vector<double> sums_of_ranks(comm::Communicator& control, std::vector<double> mine);
/// The sums, added up in the order of ranks: the same bits however ranks lie.
std::vector<double> ordered_sums_of_ranks(comm::Communicator& control,
                                          std::span<const double> mine);

}  // namespace ranklab::measure
