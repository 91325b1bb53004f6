// Observers watch the steps of a training run: one file per observer in observers/. The list in
// CMakeLists.txt is the order of the observers' collectives on every rank.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "experiments/shared/experiment.hpp"
#include "experiments/shared/measurements.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/training/checkpoint.hpp"
#include "experiments/training/steps.hpp"
#include "stats/summary.hpp"
#include "train/lr_schedule.hpp"

namespace ranklab::experiments {

/// Decides why and after which step a run ends. Equal on all ranks.
struct RunEnd : StopPoll {
    using StopPoll::StopPoll;

    /// Whether the ranks have to decide together, after the present step, whether to go on.
    bool due() const { return wanted || StopPoll::due(); }

    bool wanted = false;  ///< makes due() true after the present step; set on all ranks
    bool failed = false;  ///< a check failed: no measurement counts
    bool enough = false;  ///< --target-ci ends the run: reached, or no steps or time left

    // Set if the run ended before its planned steps:
    bool at_time_limit = false;
    int ended_by = 0;             ///< SIGTERM, SIGINT ...
    std::string missing;          ///< undone work, as in "before the evaluation was made"
    bool has_checkpoint = false;  ///< the last step was saved
};

/// An evaluation of the test samples. Equal on all ranks, except for its seconds.
struct Validation {
    std::int64_t step = 0;  ///< the last step before the evaluation
    double seconds = 0;     ///< on this rank
    double loss = 0;
    double accuracy = stats::kNone;  ///< NaN unless the model classifies
};

/// A row of the table `epochs`, equal on all ranks but for own_seconds. Seconds are the sum over
/// the epoch's steps, without the time between steps.
struct Epoch {
    std::int64_t number = 0;  ///< from 1, as in PyTorch's examples
    std::int64_t steps = 0, samples = 0;
    double own_seconds = 0, seconds = 0;  ///< of this rank, of the slowest rank
    double lr = 0;                        ///< at its first step
    double loss = stats::kNone;
    double elapsed_s = 0;  ///< from the first step of the run to the epoch's evaluation
    Validation validation = {.seconds = stats::kNone, .loss = stats::kNone};

    double rate() const { return seconds > 0 ? base::real(samples) / seconds : stats::kNone; }
};

/// For --profile lines: how often a line of the training loop that is not part of a step ran, and
/// its seconds by this rank's host clock.
struct LineTime {
    std::int64_t hits = 0;
    double seconds = 0;
};

struct LineTimes {
    bool wanted = false;
    LineTime progress = {}, logging = {}, checks = {}, evaluation = {};

    /// Adds a hit that lasts as long as this object.
    class Hit : base::Immovable {
      public:
        Hit(LineTime* line) : line_(line) {
            if (line_ != nullptr) start_ = base::Clock::now();
        }
        ~Hit() {
            if (line_ == nullptr) return;
            ++line_->hits;
            line_->seconds += base::seconds_since(start_);
        }

      private:
        LineTime* line_;
        base::Clock::time_point start_;
    };
    [[nodiscard]] Hit hit(LineTime LineTimes::*line) { return wanted ? &(this->*line) : nullptr; }
};

/// A training run as its observers see it. Everything it refers to outlives the observers.
struct ObservedRun {
    const TrainingOptions& options;
    const measure::Schedule& schedule;
    const data::DataSet& data;
    nn::Model& model;
    TrainingSteps& steps;
    const RunContext& around;
    Checkpoint* checkpoint = nullptr;  ///< null without --checkpoint
    comm::Communicator& control = around.control;

    RunEnd end{control, options.common.time_limit};
    LineTimes lines{.wanted = options.profiles("lines")};
    std::vector<MadeStep> made = {};           ///< all steps so far, in order
    std::vector<Validation> validations = {};  ///< all so far, in order
    std::vector<Epoch> epochs = {};            ///< all that have ended, in order
    /// The planned steps; with --target-ci the steps until the next check of the interval.
    std::int64_t steps_to_come = schedule.total;

    /// Counted steps up to and including `step`.
    std::int64_t counted(std::int64_t step) const {
        return std::max<std::int64_t>(0, step + 1 - schedule.first - schedule.warmup);
    }
    /// Number of recorded steps that are warm-up.
    std::size_t warmup_rows() const { return std::min<std::size_t>(schedule.warmup, made.size()); }
    /// Whether a checkpoint is due after `step`: every --checkpoint-every steps (by default at each
    /// epoch's end), before an evaluation, which takes long, and after the last step.
    bool saves_after(std::int64_t step, bool last) const {
        const auto& settings = options.settings;
        const bool ends_epoch = schedule.ends_epoch(step);
        const bool due =
            settings.checkpoint_every ? (step + 1) % *settings.checkpoint_every == 0 : ends_epoch;
        return settings.checkpoint && (last || due || (ends_epoch && settings.evaluate == "epoch"));
    }
    std::span<const MadeStep> counted_steps() const {
        return std::span(made).subspan(warmup_rows());
    }
};

/// Watches the steps of one run. The loop calls each function outside of the timed part of a step,
/// on all ranks in the same order. An observer is made after all ranks got the same parameters and
/// before the first step; its constructor may be collective, too.
class StepObserver : base::Immovable {
  public:
    explicit StepObserver(ObservedRun& observed) : observed_(observed) {}
    virtual ~StepObserver() = default;

    virtual void before(std::int64_t /*step*/) {}
    virtual void after(const MadeStep&) {}
    /// Called after the last step of the run or an epoch, and if RunEnd::due(). Returns false, on
    /// all ranks alike, to end the run after this step. `last`: this is the last planned step, or
    /// an earlier observer ended the run.
    virtual bool goes_on(const MadeStep&, bool /*last*/) { return true; }
    /// Called once after the last step; without any step if a check failed before the first.
    virtual void end() {}

    /// Returns a row of the table `verification`. Called on all observers before the first fill().
    virtual std::optional<CheckResult> check() const { return std::nullopt; }
    /// Adds the observer's measurements to the run, complete on rank 0 only, and sets the run's
    /// `valid` on all ranks.
    virtual void fill(results::Run&, RankMeasurements&) {}

  protected:
    ObservedRun& observed_;
};

struct ObserverEntry {
    /// Whether the options need the observer; null: always. An observer that is off costs nothing.
    bool (*wanted)(const TrainingOptions& options) = nullptr;
    std::unique_ptr<StepObserver> (*make)(ObservedRun& observed);
    bool in_trials = false;  ///< also with --ablation, which replaces the loop by trials
};

template <class Observer>
std::unique_ptr<StepObserver> make_observer(ObservedRun& observed) {
    return std::make_unique<Observer>(observed);
}

/// Generated: all observers, in CMake's order.
std::vector<ObserverEntry> step_observers();

/// Makes the steps of a training run and calls the observers between steps.
class TrainingLoop {
  public:
    /// Collective. Gives all ranks one state, rank 0's or the checkpoint's, and makes the
    /// observers, some of which check that state: if a check fails, `observed.end.failed` is true.
    explicit TrainingLoop(ObservedRun& observed);

    /// Makes the planned steps, until an observer ends the run. Collective.
    void run();
    /// Ends the observers, which may change the parameters. Collective.
    void end();
    /// Adds all checks and measurements. Collective.
    void fill(results::Run& run) const;

  private:
    void make_step(std::int64_t step);
    bool goes_on(const MadeStep& made);

    ObservedRun& observed_;
    std::vector<std::unique_ptr<StepObserver>> observers_;
    train::LrSchedule rates_;
    std::int64_t updates_;  // optimizer steps so far, with those of resumed runs
};

}  // namespace ranklab::experiments
