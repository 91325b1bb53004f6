// The steps of a training run: batches, epochs, checks between steps, evaluation.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/progress.hpp"
#include "comm/silent.hpp"
#include "data/sampler.hpp"
#include "experiments/checkpoint.hpp"
#include "experiments/delayed_phases.hpp"
#include "experiments/training_options.hpp"
#include "experiments/training_record.hpp"
#include "measure/phase_recorder.hpp"
#include "train/gradient_gate.hpp"
#include "train/trainer.hpp"

namespace ranklab::experiments {

class TrainingLoop {
  public:
    struct Setup {
        const TrainingOptions& options;
        const data::DataSets& sets;
        const data::SourceEntry& source;
        measure::Schedule schedule;
        comm::Communicator& control;
        comm::Communicator& data_plane;
        base::ProgressSink& progress;
        train::Progress reduction_progress = train::Progress::none;
        train::Transfer transfer = train::Transfer::background;
        Checkpoints* checkpoints = nullptr;  ///< none: no checkpoints; else schedule.first is theirs
    };
    TrainingLoop(const Setup& setup, nn::Model& model, data::Sampler& sampler);

    /// The gate, then all steps, or until a check ends them. Collective. Returns what was verified.
    std::vector<Verdict> run();
    /// Pairs of steps with and without communication, after a run that went well. The parameters are of no
    /// use afterwards: without communication the ranks drift apart. Collective.
    void probe_overlap();
    const TrainingRecord& record() const { return record_; }

  private:
    struct StepCounts {
        double loss_sum = 0;  // this rank's mean losses x their samples
        std::int64_t local = 0;
        std::int64_t global = 0;
        std::int64_t unrepeated = 0;
    };
    bool check_gradient();
    double weight_of(std::int64_t samples, std::int64_t global) const;
    bool begins_part_of_epoch(std::int64_t step) const;
    void start_epoch(std::int64_t epoch);
    void do_step(std::int64_t step);
    StepCounts compute_step(std::int64_t step);
    StepReductions reductions_of_step() const;
    void note_reductions();
    bool check_between_steps(std::int64_t step);
    void finish_epoch(std::int64_t step);
    bool checkpoint_due(std::int64_t step) const;
    void save_checkpoint(std::int64_t step);
    void evaluate_epoch(EpochRow& row);
    void compare_parameters(const std::string& when);
    void report_progress(std::int64_t step, double loss);
    Verdict gate_verdict() const;
    std::vector<Verdict> verdicts() const;

    Setup setup_;
    nn::Model& model_;
    data::Sampler& sampler_;
    bool keeps_ranks_equal_;  // as the sync strategy promises
    measure::PhaseRecorder recorder_;
    DelayedPhases phases_;
    comm::SilentCommunicator data_plane_;
    std::unique_ptr<train::GradientSync> sync_;
    std::unique_ptr<train::BufferSync> buffers_;
    std::unique_ptr<train::Optimizer> optimizer_;
    train::Trainer trainer_;
    train::Normalizer normalize_;
    data::Batch batch_;
    TrainingRecord record_;
    EpochRow epoch_;
    measure::Clock::time_point start_;
    measure::Clock::time_point epoch_start_;
    std::int64_t first_bad_step_;
    std::int64_t comparisons_ = 0;
    std::int64_t evaluated_samples_ = -1;
    std::string differing_;  // where parameters first differed
    std::string bad_loss_;   // where the loss first was not a number
    std::optional<train::GateResult> gate_;
};

}  // namespace ranklab::experiments
