// The steps of a training run: batches, epochs, checks between steps, evaluation.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/progress.hpp"
#include "data/sampler.hpp"
#include "experiments/training_options.hpp"
#include "experiments/training_record.hpp"
#include "measure/phase_recorder.hpp"
#include "train/replica_check.hpp"
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
        std::function<std::shared_ptr<nn::Model>()> make_model;  ///< for the replicas of mode dp
    };
    TrainingLoop(const Setup& setup, nn::Model& model, data::Sampler& sampler);

    /// All steps, or until a check ends them. Collective. Returns what was verified.
    std::vector<Verdict> run();
    const TrainingRecord& record() const { return record_; }
    /// nullptr but in mode dp.
    const train::DataParallel* replicas() const { return replicas_; }

  private:
    std::unique_ptr<train::Stepper> make_stepper();
    void check_first_gradient();
    void gather_samples(std::int64_t in_epoch);
    void start_epoch(std::int64_t epoch);
    void do_step(std::int64_t step);
    bool check_between_steps(std::int64_t step);
    void finish_epoch(std::int64_t step);
    void evaluate_epoch(EpochRow& row);
    void compare_parameters(const std::string& when);
    void report_progress(std::int64_t step);
    std::vector<Verdict> verdicts() const;

    Setup setup_;
    nn::Model& model_;
    data::Sampler& sampler_;
    bool keeps_ranks_equal_;  // as the sync strategy promises
    measure::PhaseRecorder recorder_;
    std::unique_ptr<train::GradientSync> sync_;
    std::unique_ptr<train::Optimizer> optimizer_;
    train::DataParallel* replicas_ = nullptr;  // the stepper of mode dp
    std::unique_ptr<train::Stepper> stepper_;
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
    std::optional<train::ReplicaCheck> replica_check_;
    std::string bad_loss_;  // where the loss first was not a number
};

}  // namespace ranklab::experiments
