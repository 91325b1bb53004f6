// Makes the steps of a training run: batches, the stepper that computes them, and their times.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "comm/silent.hpp"
#include "data/dataset.hpp"
#include "data/loader.hpp"
#include "data/sampler.hpp"
#include "experiments/training/communication.hpp"
#include "experiments/training/options.hpp"
#include "host/load.hpp"
#include "measure/samples.hpp"
#include "train/layer_profile.hpp"
#include "train/replicas.hpp"
#include "train/sharded_sync.hpp"
#include "train/trainer.hpp"

namespace ranklab::experiments {

/// Forwards enter() and leave(), and sleeps after entering the chosen phase (--inject-delay). Adds
/// up how long this thread waited for a core in the phase sync.
class DelayedPhases final : public base::PhaseSink {
  public:
    DelayedPhases(base::PhaseSink& sink, std::optional<Delay> delay, const host::CoreWait& cores)
        : sink_(sink), delay_(delay), cores_(cores) {}
    void enter(base::Phase phase) override {
        sink_.enter(phase);
        if (phase == base::Phase::sync) wait_in_sync_ -= cores_.seconds_of_first();
        if (!delay_ || delay_->phase != phase) return;
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(delay_->ms));
    }
    void leave(base::Phase phase) override {
        if (phase == base::Phase::sync) wait_in_sync_ += cores_.seconds_of_first();
        sink_.leave(phase);
    }
    double take_wait_in_sync() { return std::exchange(wait_in_sync_, 0); }

  private:
    base::PhaseSink& sink_;
    std::optional<Delay> delay_;
    const host::CoreWait& cores_;
    double wait_in_sync_ = 0;
};

/// What TrainingSteps works with. All of it must outlive the steps.
struct StepParts {
    const TrainingOptions& options;
    const data::DataSet& data;
    const data::SourceEntry& source;
    const data::Sampler& sampler;
    std::int64_t steps_per_epoch;
    comm::Communicator& control;
    comm::Communicator& data_plane;
    /// Makes a replica of mode dp.
    std::function<std::shared_ptr<nn::Model>(torch::Device)> make_model;
    torch::Device device = torch::kCPU;
};

/// Makes the strategy of --sync, or with --zero the one that shards `model`. The communicators must
/// outlive the strategy.
std::unique_ptr<train::GradientSync> make_sync(const TrainingOptions& options,
                                               const nn::Model& model,
                                               comm::Communicator& data_plane,
                                               comm::Communicator& control);

/// A step that was made. Counts over all ranks are equal on all ranks; other values are this
/// rank's.
struct MadeStep {
    std::int64_t step = 0;         ///< counted over epochs, from 0
    double learning_rate = 0;      ///< set by the loop
    double loss_sum = 0;           ///< sum of mean loss x samples over micro-batches
    std::int64_t local = 0;        ///< samples of this rank
    std::int64_t global = 0;       ///< samples of all ranks: the divisor of the mean loss
    std::int64_t unrepeated = 0;   ///< `global` without repeated samples, for samples/s
    bool updated = false;          ///< false: the gradients were not finite (GradScaler)
    data::ReadTimes reading = {};  ///< of the loader's threads, for this step's samples
    measure::StepTimes times = {};
    /// Seconds of waiting for a core: outside the phase sync by the compute thread that waited
    /// most, in sync by the main thread.
    double core_wait = 0, core_wait_in_sync = 0;
};

class TrainingSteps {
  public:
    TrainingSteps(const StepParts& parts, nn::Model& model);

    /// Changes the input of the steps planned from now on.
    void set_input(Input input) { input_ = input; }
    /// Plans steps first .. end - 1 as the next ones, in order; loader threads make their batches
    /// ahead. Steps are counted over epochs, from 0.
    void plan(std::int64_t first, std::int64_t end);
    /// Makes the next planned step and times it.
    MadeStep make(std::int64_t step);
    /// Plans the first batch of an epoch and returns it.
    train::TensorBatch first_batch(std::int64_t epoch);

    /// Broadcasts rank 0's BatchNorm statistics, unless --sync none or --no-broadcast-buffers.
    void broadcast_buffers();
    /// Copies rank 0's training state to all ranks, if ranks are kept equal. For use after steps
    /// without communication.
    void make_ranks_equal();
    /// While on, steps compute the same and communicate nothing. All ranks switch together.
    void silence(bool on) { data_plane_.silence(on); }

    const StepParts& parts() const { return parts_; }
    train::GradientSync& sync() { return *sync_; }
    train::Optimizer& optimizer() { return *optimizer_; }
    /// Null without fp16; its skipped() steps do not count for a schedule by steps.
    train::GradScaler* scaler() const { return scaler_.get(); }
    const train::InputConverter& converter() const { return convert_; }
    /// Whether the sync strategy keeps the ranks' parameters equal.
    bool keeps_ranks_equal() const { return keeps_ranks_equal_; }
    /// Whether several ranks each train a model of their own.
    bool trains_alone() const { return parts_.control.world_size() > 1 && !keeps_ranks_equal_; }
    /// The phases of a step, in order. Other phases are not reported.
    std::vector<base::Phase> phases() const;
    /// Host seconds of each phase, summed over the steps so far.
    const std::array<double, base::kPhaseCount>& host_seconds() const {
        return recorder_.host_seconds();
    }
    /// Seconds for which the compute threads of a CPU have waited for a core so far.
    double core_wait_s() const;
    /// Null without --profile layers.
    train::LayerProfile* layers() const { return layers_.get(); }
    /// Micro-batches of all steps so far.
    std::int64_t batches() const { return batches_; }
    /// Null unless the mode is dp.
    train::DataParallel* replicas() const { return replicas_; }
    /// The GPUs of this rank that compute; none on the CPU.
    std::vector<torch::Device> gpus() const;
    /// The reductions of the last step. Empty if the host does not see them (on a GPU).
    StepReductions reductions() const;

  private:
    std::unique_ptr<train::Stepper> make_stepper();
    void end_step(MadeStep& made, const std::vector<double>& core_wait_before);
    std::vector<data::Draw> draws_of(data::Sampler& sampler, std::int64_t batch) const;
    std::int64_t first_batch_of(std::int64_t step) const;
    train::TensorBatch next_input(std::int64_t micro, data::ReadTimes& reading);

    StepParts parts_;
    nn::Model& model_;
    bool keeps_ranks_equal_;
    measure::PhaseRecorder recorder_;
    std::unique_ptr<measure::DevicePhases> device_phases_;  // on a GPU
    std::unique_ptr<train::LayerProfile> layers_;
    host::CoreWait core_wait_;  // of the compute threads, the main thread first
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
    std::int64_t batches_ = 0;
};

}  // namespace ranklab::experiments
