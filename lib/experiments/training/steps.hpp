// Makes the steps of a training run: batches, the stepper that computes them, and their
// measurements.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/progress.hpp"
#include "comm/silent.hpp"
#include "data/dataset.hpp"
#include "data/loader.hpp"
#include "data/sampler.hpp"
#include "experiments/shared/experiment.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/training/checkpoint.hpp"
#include "experiments/training/communication.hpp"
#include "experiments/training/curves.hpp"
#include "experiments/training/options.hpp"
#include "experiments/training/record.hpp"
#include "experiments/training/trace_window.hpp"
#include "measure/device_phases.hpp"
#include "measure/samples.hpp"
#include "train/layer_profile.hpp"
#include "train/replica_check.hpp"
#include "train/trainer.hpp"

namespace ranklab::experiments {

/// Passes marks on; in the chosen phase it sleeps first, inside the mark.
class DelayedPhases final : public base::PhaseSink {
  public:
    DelayedPhases(base::PhaseSink& sink, std::optional<Delay> delay) : sink_(sink), delay_(delay) {}
    void enter(base::Phase phase) override {
        sink_.enter(phase);
        if (!delay_ || delay_->phase != phase) return;
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(delay_->ms));
    }
    void leave(base::Phase phase) override { sink_.leave(phase); }

  private:
    base::PhaseSink& sink_;
    std::optional<Delay> delay_;
};

/// The parts of a training run; all outlive it.
struct TrainingSetup {
    const TrainingOptions& options;
    const data::DataSet& data;
    const data::SourceEntry& source;
    measure::Schedule schedule;
    comm::Communicator& control;
    comm::Communicator& data_plane;
    base::ProgressSink& progress;
    /// For the replicas of mode dp.
    std::function<std::shared_ptr<nn::Model>(torch::Device)> make_model;
    torch::Device device = torch::kCPU;
    Checkpoints* checkpoints = nullptr;  ///< none: no checkpoints; else schedule.first is theirs
    host::StartUp* start_up = nullptr;   ///< of the process
    CountedPart counting = {};
    Curves* curves = nullptr;      ///< of --tensorboard
    TraceWindow* trace = nullptr;  ///< of --trace
};

/// The strategy that the options ask for. The communicators outlive it.
std::unique_ptr<train::GradientSync> make_sync(const TrainingOptions& options,
                                               comm::Communicator& data_plane,
                                               comm::Communicator& control);

class TrainingSteps {
  public:
    TrainingSteps(const TrainingSetup& setup, nn::Model& model, const data::Sampler& sampler);

    struct Counts {
        double loss_sum = 0;          ///< this rank's mean losses x their samples
        std::int64_t local = 0;       ///< of this rank
        std::int64_t global = 0;      ///< of all ranks: the divisor of the mean
        std::int64_t unrepeated = 0;  ///< of all ranks: what samples/s counts
        bool updated = false;         ///< the optimizer's step was made: gradients were finite
    };
    /// Changes the input of the steps planned from now on.
    void set_input(Input input) { input_ = input; }
    /// Plans steps first .. end - 1 as the next ones, in order: their batches are made ahead. Steps
    /// are counted over epochs, from 0.
    void plan(std::int64_t first, std::int64_t end);
    /// The next planned step, timed, the phases on recorder().
    Counts make(std::int64_t step);

    /// The first gradient against its reference, before any step. Collective.
    CheckResult check_first_gradient(std::int64_t epoch);
    /// BatchNorm's running statistics as rank 0 has them, where they are kept equal.
    void broadcast_buffers();

    train::Optimizer& optimizer() { return *optimizer_; }
    /// Null without fp16; its skipped() steps do not count for a schedule by steps.
    train::GradScaler* scaler() const { return scaler_.get(); }
    const train::InputConverter& converter() const { return convert_; }
    bool keeps_ranks_equal() const { return keeps_ranks_equal_; }
    std::vector<base::Phase> phases() const;
    measure::PhaseRecorder& recorder() { return recorder_; }
    /// nullptr without --profile layers.
    train::LayerProfile* layers() const { return layers_.get(); }
    /// Micro-batches of all steps so far.
    std::int64_t batches() const { return batches_; }
    /// The time that the loader's threads spent on the last step's samples during steps.
    const data::ReadTimes& last_reading() const { return last_reading_; }
    /// Null in other modes than dp.
    train::DataParallel* replicas() const { return replicas_; }

    /// Those of this rank that compute; none on the CPU.
    std::vector<torch::Device> gpus() const;

    /// Copies rank 0's training state to all ranks, where they are kept equal, after steps without
    /// communication.
    void make_ranks_equal();
    /// While on, steps compute the same and communicate nothing. All ranks switch together.
    void silence(bool on) { data_plane_.silence(on); }
    /// The reductions of the last step.
    StepReductions reductions() const;
    /// The last step's buckets, known even where their times are not (a GPU's reductions).
    CommunicationFacts facts() const;
    std::size_t reduction_count() const { return sync_->stamps().size(); }

  private:
    std::unique_ptr<train::Stepper> make_stepper();
    void end_step();
    std::vector<data::Draw> draws_of(data::Sampler& sampler, std::int64_t micro) const;
    std::int64_t first_batch_of(std::int64_t step) const;
    train::TensorBatch first_batch(std::int64_t epoch);
    train::TensorBatch next_input(std::int64_t micro, data::ReadTimes& reading);
    bool trains_alone() const { return setup_.control.world_size() > 1 && !keeps_ranks_equal_; }
    CheckResult check_sum(const train::TensorBatch& batch);
    CheckResult check_replicas(const train::TensorBatch& batch);

    TrainingSetup setup_;
    nn::Model& model_;
    const data::Sampler& sampler_;
    std::int64_t accumulate_;
    bool keeps_ranks_equal_;  // as the sync strategy promises
    measure::PhaseRecorder recorder_;
    std::unique_ptr<measure::DevicePhases> device_phases_;  // on a GPU
    std::unique_ptr<train::LayerProfile> layers_;
    DelayedPhases phases_;
    comm::SilentCommunicator data_plane_;
    std::unique_ptr<train::GradientSync> sync_;
    std::unique_ptr<train::BufferSync> buffers_;
    std::unique_ptr<train::Optimizer> optimizer_;
    std::unique_ptr<train::GradScaler> scaler_;
    train::DataParallel* replicas_ = nullptr;  // the stepper of mode dp
    std::unique_ptr<train::Stepper> stepper_;
    train::InputConverter convert_;
    data::Loader loader_;
    Input input_;
    train::TensorBatch repeated_;  // of synthetic input
    data::ReadTimes last_reading_;
    std::int64_t batches_ = 0;
};

/// Makes pairs of steps with and without communication, fewer after a stop signal. Without
/// communication the ranks drift apart; at the end they are equal again, but the model is not that
/// of the run. Collective.
OverlapProbe probe_overlap(TrainingSteps& steps, comm::Communicator& control, std::int64_t pairs,
                           StopPoll& stop);

}  // namespace ranklab::experiments
