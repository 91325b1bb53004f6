// Drives a training run: the gate, steps, epochs, checks between steps, evaluation, checkpoints.
#pragma once

#include <chrono>
#include <vector>

#include "experiments/shared/stop_poll.hpp"
#include "experiments/training/ablation.hpp"
#include "experiments/training/checks.hpp"
#include "experiments/training/layers.hpp"
#include "experiments/training/record.hpp"
#include "experiments/training/steps.hpp"
#include "train/lr_schedule.hpp"

namespace ranklab::experiments {

class TrainingLoop {
  public:
    TrainingLoop(const TrainingSetup& setup, nn::Model& model, const data::Sampler& sampler);

    /// The gate, then all steps, or until a check ends them. Collective.
    void run();
    /// Replaces run(): makes the gate, then the trials of an ablation; after a stop signal those of
    /// whole rounds count. Collective.
    void ablate();
    /// To be called last, after run(); does nothing if that failed. The parameters are of no use
    /// afterwards. Collective.
    void probe_overlap();
    /// The record so far, equal on all ranks but for a rank's own times.
    const TrainingRecord& record() const { return record_; }
    const std::vector<TrialTimes>& trials() const { return trials_; }
    const ProfiledLayers& layers() const { return layers_; }
    std::vector<CheckResult> verdicts() const;
    /// The signal that ended it early, agreed between the ranks; 0: none.
    int stop_signal() const { return record_.end.signal; }
    /// Null in other modes than dp.
    const train::DataParallel* replicas() const { return steps_.replicas(); }
    /// Null without fp16.
    const train::GradScaler* scaler() const { return steps_.scaler(); }

  private:
    bool begin();
    void restore();
    void note_counting_begins();
    void do_step(std::int64_t step);
    void note_step(const TrainingSteps::Counts& counts);
    void note_reductions();
    bool check_between_steps(std::int64_t step);
    bool ends_at(std::int64_t step) const;
    bool evaluation_due(std::int64_t step, bool last) const;
    bool late_on_any();
    std::int64_t counted(std::int64_t step) const;
    void look_at_convergence(std::int64_t now);
    bool enough_steps(bool late, std::int64_t step);
    void finish_epoch(std::int64_t step, bool last);
    bool checkpoint_due(std::int64_t step) const;
    void save_checkpoint(std::int64_t step);
    bool evaluate_epoch(EpochRow& row);
    bool evaluation_goes_on();
    void report_progress(std::int64_t step, double loss);
    CheckResult equality_verdict() const;
    CheckResult loss_verdict() const;
    CheckResult evaluation_verdict() const;

    TrainingSetup setup_;
    nn::Model& model_;
    TrainingSteps steps_;
    TrainingRecord record_;
    std::vector<TrialTimes> trials_;  // of whole rounds
    ProfiledLayers layers_;
    CheckResult gate_;
    EpochRow epoch_;
    train::LrSchedule rates_;
    std::int64_t updates_;      // optimizer steps made, in earlier runs too: the schedule's clock
    double learning_rate_ = 0;  // of the step under way
    measure::Clock::time_point start_;
    StopPoll stop_;
    RankEquality equality_;
    bool late_ = false;    // the time limit is over, on all ranks
    bool enough_ = false;  // of --target-ci, or of the time that it had
    std::int64_t first_bad_step_;
    std::int64_t evaluated_samples_ = -1;
    std::string bad_loss_;  // where the loss first was not a number
};

}  // namespace ranklab::experiments
