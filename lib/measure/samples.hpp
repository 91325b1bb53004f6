// A run's samples: the counted steps, the times of their phases, and gathering over ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "base/phase.hpp"
#include "comm/communicator.hpp"
#include "device/gpus.hpp"

namespace ranklab::measure {

/// Steps first .. first + warmup - 1 are recorded but do not count; later steps below `total`
/// count.
struct Schedule {
    std::int64_t warmup = 0;
    std::int64_t total = 0;
    std::int64_t steps_per_epoch = 1;
    std::int64_t first = 0;  ///< the first step to make; the checkpoint has the earlier ones

    std::int64_t counted() const { return total - first - warmup; }
    bool counts(std::int64_t step) const { return step >= first + warmup; }
    std::int64_t epoch_of(std::int64_t step) const { return step / steps_per_epoch; }
    bool ends_epoch(std::int64_t step) const { return (step + 1) % steps_per_epoch == 0; }
};

/// The default of --warmup: min(10, steps/10).
std::int64_t default_warmup(std::int64_t steps);

/// Schedules `warmup` steps, then `steps` counted ones.
Schedule schedule_steps(std::int64_t steps, std::int64_t warmup, std::int64_t steps_per_epoch);

/// Schedules whole epochs. The warm-up is the start of the first epoch: additional steps would
/// repeat samples. Throws OptionError if nothing is left to measure.
Schedule schedule_epochs(std::int64_t epochs, std::int64_t warmup, std::int64_t steps_per_epoch);

/// The rest of a schedule after `completed` steps. It begins with a warm-up again, but at least one
/// step counts. Throws OptionError if nothing is left.
Schedule resume_after(Schedule schedule, std::int64_t completed);

using base::Clock;

/// Seconds of one step and of its phases (0 for phases that the step did not enter).
struct StepTimes {
    double step = 0;
    std::array<double, base::kPhaseCount> phases{};
};

/// Measures the times of a step and its phases on this rank. Reads steady_clock when a phase begins
/// and ends; makes no allocation, I/O or synchronisation within a step.
class PhaseRecorder final : public base::PhaseSink {
  public:
    void begin_step();
    void end_step();
    /// Replaces a phase's time in the step that ended last, by a time from another clock (a GPU's).
    void correct_last(base::Phase phase, double seconds);
    /// Times of a phase that is entered several times per step add up. Phases must not nest.
    void enter(base::Phase phase) override;
    void leave(base::Phase phase) override;

    struct Span {
        Clock::time_point begin;
        Clock::time_point end;
    };
    /// The last begin and end of a phase, and the begin of the step.
    Span last(base::Phase phase) const { return last_[base::number_of(phase)]; }
    Clock::time_point step_start() const { return step_start_; }
    /// Sum over steps of the host's seconds in each phase.
    const std::array<double, base::kPhaseCount>& host_seconds() const { return host_; }

    /// The step that ended last.
    const StepTimes& last_step() const { return current_; }

  private:
    StepTimes current_;
    Clock::time_point step_start_;
    Clock::time_point phase_start_;
    std::array<Span, base::kPhaseCount> last_{};
    std::array<double, base::kPhaseCount> host_{};
};

/// Forwards phases to a recorder, and records an event on the compute stream at both ends of every
/// phase except data and copy, which are the host's work. Only finish_step(), at the end of a step,
/// waits for the GPU. It replaces the host's times, which cover launches only, by the events'
/// times. With replicas on several GPUs the phases are the first GPU's; its waits for other GPUs
/// count in gather and reduce.
class DevicePhases final : public base::PhaseSink {
  public:
    explicit DevicePhases(PhaseRecorder& recorder) : recorder_(recorder) {}

    void enter(base::Phase phase) override;
    void leave(base::Phase phase) override;
    /// To be called instead of the recorder's end_step(). Waits for the compute stream, so that the
    /// step time covers all work.
    void finish_step();

  private:
    struct Span {
        base::Phase phase{};
        device::Event begin{device::Event::Kind::timing};
        device::Event end{device::Event::Kind::timing};
    };

    PhaseRecorder& recorder_;
    std::vector<Span> spans_;  // reused in every step
    std::size_t used_ = 0;
};

/// Values [rows, ranks], row-major.
struct RankSamples {
    std::size_t ranks = 1;
    std::vector<double> values;

    std::size_t rows() const { return ranks == 0 ? 0 : values.size() / ranks; }
    double at(std::size_t row, std::size_t rank) const { return values[row * ranks + rank]; }
};

// The functions below are collective; all ranks must give the same number of rows. They exchange
// pieces of 256 KiB, or one row at a time if a row is larger.

/// Gathers all ranks' columns on all ranks.
RankSamples gather_columns(comm::Communicator& control, std::span<const double> mine);
/// Gathers the columns of ranks 0 .. ranks - 1 on rank 0. Other ranks get one column, the maximum
/// over these ranks in each row.
RankSamples gather_samples(comm::Communicator& control, std::span<const double> mine,
                           std::size_t ranks);

/// Maximum or sum over ranks in each row, by one reduction. The rounding of a sum may depend on
/// rank placement.
std::vector<double> largest_of_ranks(comm::Communicator& control, std::vector<double> mine);
std::vector<double> sums_of_ranks(comm::Communicator& control, std::vector<double> mine);
/// Sum over ranks in each row, in rank order: bitwise independent of rank placement.
std::vector<double> ordered_sums_of_ranks(comm::Communicator& control,
                                          std::span<const double> mine);

}  // namespace ranklab::measure
