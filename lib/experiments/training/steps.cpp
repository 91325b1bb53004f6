#include "experiments/training/steps.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "base/clock.hpp"
#include "host/topology.hpp"
#include "train/equal_state.hpp"
#include "train/graph_trainer.hpp"
#include "train/torch_cuda.hpp"

namespace ranklab::experiments {
namespace {

std::optional<Delay> delay_on(const StepParts& parts) {
    const auto& delay = parts.options.delay;
    return delay && delay->rank == parts.control.rank() ? delay : std::nullopt;
}

base::PhaseSink& marks_of(measure::PhaseRecorder& recorder, measure::DevicePhases* device) {
    if (device != nullptr) return *device;
    return recorder;
}

std::unique_ptr<train::LayerProfile> make_layer_profile(const StepParts& parts,
                                                        const nn::Model& model,
                                                        base::PhaseSink& marks) {
    if (!parts.options.profiles("layers")) return nullptr;
    std::function<void()> wait;
    if (!parts.device.is_cpu()) wait = [] { device::synchronize(device::compute_stream()); };
    return std::make_unique<train::LayerProfile>(model, marks, std::move(wait));
}

// Returns the ids of OpenMP's threads, which LibTorch keeps alive; the caller's id is the first.
std::vector<pid_t> compute_threads() {
    std::vector<pid_t> ids(at::get_num_threads());
    at::parallel_for(0, std::ssize(ids), 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i) ids[i] = ::gettid();
    });
    return ids;
}

// Returns a BufferSync for rank 0's running statistics of BatchNorm; null if none is needed.
std::unique_ptr<train::BufferSync> make_buffer_sync(const StepParts& parts, const nn::Model& model,
                                                    bool keeps_ranks_equal,
                                                    comm::Communicator& data_plane) {
    const bool wanted = !parts.options.settings.no_broadcast_buffers &&
                        parts.control.world_size() > 1 && keeps_ranks_equal;
    return wanted && !model.buffers().empty()
               ? std::make_unique<train::BufferSync>(model, data_plane)
               : nullptr;
}

// Returns the GPUs `first`, `first` + 1, ...: mode dp has one rank, and `first` is its GPU.
std::vector<torch::Device> replica_devices(torch::Device first, std::int64_t count) {
    std::vector<torch::Device> devices(count, first);
    if (first.is_cpu()) return devices;
    for (std::size_t r = 0; r < devices.size(); ++r)
        devices[r].set_index(static_cast<c10::DeviceIndex>(first.index() + static_cast<int>(r)));
    return devices;
}

std::unique_ptr<train::Optimizer> make_optimizer(const TrainingOptions& options, nn::Model& model,
                                                 const train::GradientSync& sync) {
    const auto& settings = options.settings;
    const auto owned = sync.owned(train::trained_parameters(model));
    auto optimizer = entry_of(train::optimizers(), *settings.optimizer)
                         .make(owned.tensors, {.lr = options.rate.lr,
                                               .momentum = *settings.momentum,
                                               .fused = settings.fused_optimizer,
                                               .ops = options.ops()});
    if (!settings.clip_gradients) return optimizer;
    return train::clipping(std::move(optimizer), owned.tensors, *settings.clip_gradients,
                           owned.sum);
}

}  // namespace

std::unique_ptr<train::GradientSync> make_sync(const TrainingOptions& options,
                                               const nn::Model& model,
                                               comm::Communicator& data_plane,
                                               comm::Communicator& control) {
    const auto& settings = options.settings;
    const train::SyncSetup setup{
        .data = data_plane,
        .control = control,
        .first_cap_bytes = std::min(train::kFirstBucketBytes, options.bucket_cap()),
        .cap_bytes = options.bucket_cap(),
        .progress = settings.progress == "thread" ? train::Progress::thread
                    : settings.progress == "poll" ? train::Progress::poll
                    : settings.zero > 0           ? train::Progress::waiting
                                                  : train::Progress::none,
        .transfer = settings.transfer == "blocking" ? train::Transfer::blocking
                                                    : train::Transfer::background,
        .compression = options.compression};
    if (settings.zero > 0)
        return std::make_unique<train::ShardedSync>(model, setup, options.zero());
    return entry_of(train::gradient_syncs(), *settings.sync).make(setup);
}

TrainingSteps::TrainingSteps(const StepParts& parts, nn::Model& model)
    : parts_(parts),
      model_(model),
      keeps_ranks_equal_(
          entry_of(train::gradient_syncs(), *parts.options.settings.sync).keeps_ranks_equal),
      device_phases_(parts.device.is_cpu() ? nullptr
                                           : std::make_unique<measure::DevicePhases>(recorder_)),
      layers_(make_layer_profile(parts, model, marks_of(recorder_, device_phases_.get()))),
      core_wait_(parts.device.is_cpu() ? compute_threads() : std::vector<pid_t>()),
      phases_(layers_ ? *layers_ : marks_of(recorder_, device_phases_.get()), delay_on(parts),
              core_wait_),
      data_plane_(parts.data_plane),
      sync_(make_sync(parts.options, model, data_plane_, parts.control)),
      buffers_(make_buffer_sync(parts, model, keeps_ranks_equal_, data_plane_)),
      optimizer_(make_optimizer(parts.options, model, *sync_)),
      scaler_(parts.options.precision() == train::Precision::fp16
                  ? std::make_unique<train::GradScaler>()
                  : nullptr),
      stepper_(make_stepper()),
      convert_(parts.data.train->layout(), parts.source.pixel_mean, parts.source.pixel_std,
               parts.options.parameter_type(),
               {.device = parts.device,
                .channels_last = parts.options.settings.channels_last == "true"}),
      loader_(*parts.data.train, loader_config(parts.options, *parts.options.settings.batch_size)),
      input_(parts.options.input) {}

std::unique_ptr<train::Stepper> TrainingSteps::make_stepper() {
    if (parts_.options.settings.cuda_graph)
        return std::make_unique<train::GraphTrainer>(model_, *sync_, *optimizer_, phases_,
                                                     buffers_.get(), scaler_.get(),
                                                     train::make_cuda_graph);
    if (!vocabulary::mode_of(parts_.options.settings).has_replicas)
        return std::make_unique<train::Trainer>(
            model_, *sync_, *optimizer_, phases_, buffers_.get(), scaler_.get(),
            keeps_ranks_equal_ && parts_.options.own.branches ? &parts_.control : nullptr);
    // On GPUs the replicas' threads only launch work and need no cores of their own.
    const bool on_cpu = parts_.device.is_cpu();
    auto replicas = std::make_unique<train::DataParallel>(
        model_,
        train::ReplicaSetup{
            .devices = replica_devices(parts_.device, *parts_.options.settings.replicas),
            .make = parts_.make_model,
            .seed = parts_.options.seed(),
            .threads = at::get_num_threads(),
            .cores = on_cpu ? host::cores_of(host::cpuset()) : std::vector<std::vector<int>>()},
        *optimizer_, phases_, scaler_.get());
    replicas_ = replicas.get();
    return replicas;
}

std::vector<torch::Device> TrainingSteps::gpus() const {
    if (parts_.device.is_cpu()) return {};
    return replica_devices(parts_.device, replicas_ == nullptr ? 1 : replicas_->count());
}

std::vector<base::Phase> TrainingSteps::phases() const {
    std::vector<base::Phase> all{base::Phase::data, base::Phase::copy};
    if (input_ == Input::io_only) return all;
    for (const auto phase : stepper_->phases()) all.push_back(phase);
    return all;
}

// Replica r of N takes the samples of rank r of N: dp's losses then equal ddp's at the same seed.
std::vector<data::Draw> TrainingSteps::draws_of(data::Sampler& sampler, std::int64_t batch) const {
    const std::int64_t per_epoch = sampler.steps_per_epoch();
    if (sampler.epoch() != batch / per_epoch) sampler.set_epoch(batch / per_epoch);
    auto draws = sampler.draws(batch % per_epoch);
    return replicas_ == nullptr ? draws : data::dealt(draws, replicas_->count());
}

// Batches are counted over epochs. An epoch's last step may have fewer micro-batches.
std::int64_t TrainingSteps::first_batch_of(std::int64_t step) const {
    const std::int64_t per_epoch = parts_.steps_per_epoch;
    return step / per_epoch * parts_.sampler.steps_per_epoch() +
           step % per_epoch * parts_.options.settings.accumulate;
}

void TrainingSteps::plan(std::int64_t first, std::int64_t end) {
    const std::int64_t begin = first_batch_of(first);
    const std::int64_t batches = input_ == Input::synthetic ? 1 : first_batch_of(end) - begin;
    loader_.start(
        [this, sampler = parts_.sampler](std::int64_t b) mutable { return draws_of(sampler, b); },
        begin, batches);
    if (input_ != Input::synthetic) return;
    // A copy: the loader overwrites its memory with the next batch.
    const auto batch = convert_(loader_.next());
    repeated_ = {batch.input.clone(), batch.targets.clone()};
}

train::TensorBatch TrainingSteps::next_input(std::int64_t micro, data::ReadTimes& reading) {
    ++batches_;
    if (input_ == Input::synthetic) {
        const std::int64_t count = std::min(parts_.sampler.local_count(micro), repeated_.count());
        return {repeated_.input.narrow(0, 0, count), repeated_.targets.narrow(0, 0, count)};
    }
    const data::Batch* batch = nullptr;
    {
        const auto mark = phases_.phase(base::Phase::data);
        batch = &loader_.next();
    }
    reading += batch->times;
    const auto mark = phases_.phase(base::Phase::copy);
    return convert_(*batch);
}

MadeStep TrainingSteps::make(std::int64_t step) {
    // Tools for PyTorch's traces find iterations by this name.
    const std::string name = fmt::format("ProfilerStep#{}", step + 1);
    const base::Annotation mark(name.c_str());
    base::in_step = true;
    const auto& sampler = parts_.sampler;
    const std::int64_t epoch_begin = step / parts_.steps_per_epoch * sampler.steps_per_epoch();
    const std::int64_t first = first_batch_of(step) - epoch_begin;
    const std::int64_t end = first_batch_of(step + 1) - epoch_begin;
    const auto core_wait_before = core_wait_.seconds();
    recorder_.begin_step();
    MadeStep made{.step = step};
    std::int64_t own = 0;
    for (std::int64_t micro = first; micro < end; ++micro) {
        made.global += sampler.global_count(micro);
        made.unrepeated += sampler.true_count(micro);
        own += sampler.local_count(micro);
    }
    // Without synchronisation a rank trains alone: the mean over its own samples is the loss.
    const std::int64_t of = trains_alone() ? own : made.global;
    std::vector<std::pair<torch::Tensor, std::int64_t>> losses;
    for (std::int64_t micro = first; micro < end; ++micro) {
        const auto tensors = next_input(micro, made.reading);
        made.local += tensors.count();
        if (input_ == Input::io_only) continue;
        // The weight of the micro-batch in a mean over the step's samples.
        const double share = of == 0 ? 0.0 : base::real(tensors.count()) / base::real(of);
        losses.emplace_back(stepper_->accumulate(tensors, share, micro + 1 == end),
                            tensors.count());
    }
    if (input_ != Input::io_only) made.updated = stepper_->update();
    // The loss is read here: between forward and backward, reading it would wait for a device.
    for (const auto& [loss, samples] : losses)
        if (loss.defined()) made.loss_sum += loss.item<double>() * static_cast<double>(samples);
    end_step(made, core_wait_before);
    return made;
}

void TrainingSteps::end_step(MadeStep& made, const std::vector<double>& core_wait_before) {
    if (device_phases_)
        device_phases_->finish_step();
    else
        recorder_.end_step();
    base::in_step = false;
    made.times = recorder_.last_step();
    made.core_wait_in_sync = phases_.take_wait_in_sync();
    const auto now = core_wait_.seconds();
    for (std::size_t i = 0; i < now.size(); ++i)
        made.core_wait = std::max(
            made.core_wait, now[i] - core_wait_before[i] - (i == 0 ? made.core_wait_in_sync : 0));
}

train::TensorBatch TrainingSteps::first_batch(std::int64_t epoch) {
    plan(epoch * parts_.steps_per_epoch, epoch * parts_.steps_per_epoch + 1);
    return input_ == Input::synthetic ? repeated_ : convert_(loader_.next());
}

void TrainingSteps::make_ranks_equal() {
    if (keeps_ranks_equal_)
        train::take_state_of_rank_0(model_, *optimizer_, scaler_.get(), parts_.control);
}

double TrainingSteps::core_wait_s() const {
    const auto waits = core_wait_.seconds();
    return std::accumulate(waits.begin(), waits.end(), 0.0);
}

void TrainingSteps::broadcast_buffers() {
    if (buffers_) buffers_->broadcast();
}

StepReductions TrainingSteps::reductions() const {
    const auto seconds = [&](measure::Clock::time_point when) {
        return base::seconds_between(recorder_.step_start(), when);
    };
    const auto backward = recorder_.last(base::Phase::backward);
    StepReductions step{seconds(backward.begin), seconds(backward.end), {}};
    for (const auto& stamp : sync_->stamps())
        if (stamp.end != train::Clock::time_point())  // unknown to the host on a GPU
            step.reductions.push_back({seconds(stamp.ready), seconds(stamp.start),
                                       seconds(stamp.moving), seconds(stamp.end)});
    return step;
}

}  // namespace ranklab::experiments
