#include "experiments/training/steps.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.hpp"
#include "experiments/training/checks.hpp"
#include "host/topology.hpp"
#include "train/equal_state.hpp"
#include "train/graph_trainer.hpp"
#include "train/torch_cuda.hpp"

namespace ranklab::experiments {
namespace {

std::optional<Delay> delay_on(const TrainingSetup& setup) {
    const auto& delay = setup.options.delay;
    return delay && delay->rank == setup.control.rank() ? delay : std::nullopt;
}

base::PhaseSink& marks_of(measure::PhaseRecorder& recorder, measure::DevicePhases* device) {
    if (device != nullptr) return *device;
    return recorder;
}

std::unique_ptr<train::LayerProfile> make_layer_profile(const TrainingSetup& setup,
                                                        const nn::Model& model,
                                                        base::PhaseSink& marks) {
    if (!setup.options.profiles("layers")) return nullptr;
    std::function<void()> wait;
    if (!setup.device.is_cpu()) wait = [] { device::synchronize(device::compute_stream()); };
    return std::make_unique<train::LayerProfile>(model, marks, std::move(wait));
}

// Rank 0's running statistics are everyone's, where ranks are kept equal at all.
std::unique_ptr<train::BufferSync> make_buffer_sync(const TrainingSetup& setup,
                                                    const nn::Model& model, bool keeps_ranks_equal,
                                                    comm::Communicator& data_plane) {
    const bool wanted =
        setup.options.broadcasts_buffers() && setup.control.world_size() > 1 && keeps_ranks_equal;
    return wanted && !model.buffers().empty()
               ? std::make_unique<train::BufferSync>(model, data_plane)
               : nullptr;
}

// A micro-batch's share of the samples that the step's gradient is the mean of. The step's other
// micro-batches may be smaller, and an epoch's last step may have fewer of them.
double share_of(std::int64_t samples, std::int64_t all) {
    return all == 0 ? 0.0 : static_cast<double>(samples) / static_cast<double>(all);
}

// The GPUs from the rank's own on: in mode dp it is alone, and that is the first one.
std::vector<torch::Device> replica_devices(torch::Device first, std::int64_t count) {
    std::vector<torch::Device> devices(static_cast<std::size_t>(count), first);
    if (first.is_cpu()) return devices;
    for (std::size_t r = 0; r < devices.size(); ++r)
        devices[r].set_index(static_cast<c10::DeviceIndex>(first.index() + static_cast<int>(r)));
    return devices;
}

}  // namespace

std::unique_ptr<train::GradientSync> make_sync(const TrainingOptions& options,
                                               comm::Communicator& data_plane,
                                               comm::Communicator& control) {
    const auto cap = static_cast<std::int64_t>(options.settings.bucket_cap_mb * (1 << 20));
    return entry_of(train::gradient_syncs(), *options.settings.sync)
        .make({.data = data_plane,
               .control = control,
               .first_cap_bytes = std::min(train::kFirstBucketBytes, cap),
               .cap_bytes = cap,
               .progress = options.way.progress,
               .transfer = options.way.transfer,
               .compression = options.compression});
}

TrainingSteps::TrainingSteps(const TrainingSetup& setup, nn::Model& model,
                             const data::Sampler& sampler)
    : setup_(setup),
      model_(model),
      sampler_(sampler),
      accumulate_(setup.options.settings.accumulate),
      keeps_ranks_equal_(
          entry_of(train::gradient_syncs(), *setup.options.settings.sync).keeps_ranks_equal),
      device_phases_(setup.device.is_cpu() ? nullptr
                                           : std::make_unique<measure::DevicePhases>(recorder_)),
      layers_(make_layer_profile(setup, model, marks_of(recorder_, device_phases_.get()))),
      phases_(layers_ ? *layers_ : marks_of(recorder_, device_phases_.get()), delay_on(setup)),
      data_plane_(setup.data_plane),
      sync_(make_sync(setup.options, data_plane_, setup.control)),
      buffers_(make_buffer_sync(setup, model, keeps_ranks_equal_, data_plane_)),
      optimizer_(entry_of(train::optimizers(), *setup.options.settings.optimizer)
                     .make(train::trained_parameters(model),
                           {.lr = setup.options.rate.lr,
                            .momentum = *setup.options.settings.momentum,
                            .fused = setup.options.settings.fused_optimizer,
                            .ops = setup.options.speed.ops})),
      scaler_(make_scaler(setup.options.speed)),
      stepper_(make_stepper()),
      convert_(setup.data.train->layout(), setup.source.pixel_mean, setup.source.pixel_std,
               setup.options.speed.parameter_type(),
               {.device = setup.device, .channels_last = setup.options.speed.channels_last}),
      loader_(*setup.data.train, {.workers = setup.options.input.workers,
                                  .prefetch = setup.options.input.prefetch,
                                  .batch = *setup.options.settings.batch_size,
                                  .allocate = {}}),
      input_(setup.options.input.kind) {}

std::unique_ptr<train::Stepper> TrainingSteps::make_stepper() {
    if (setup_.options.speed.cuda_graph)
        return std::make_unique<train::GraphTrainer>(model_, *sync_, *optimizer_, phases_,
                                                     buffers_.get(), scaler_.get(),
                                                     train::make_cuda_graph);
    if (setup_.options.settings.mode != "dp")
        return std::make_unique<train::Trainer>(model_, *sync_, *optimizer_, phases_,
                                                buffers_.get(), scaler_.get());
    // Threads that launch what GPUs do need no cores of their own.
    const bool on_cpu = setup_.device.is_cpu();
    auto replicas = std::make_unique<train::DataParallel>(
        model_,
        train::ReplicaSetup{
            .devices = replica_devices(setup_.device, *setup_.options.settings.replicas),
            .make = setup_.make_model,
            .seed = setup_.options.seed(),
            .threads = at::get_num_threads(),
            .cores = on_cpu ? host::cores_of(host::cpuset()) : std::vector<std::vector<int>>()},
        *optimizer_, phases_, scaler_.get());
    replicas_ = replicas.get();
    return replicas;
}

std::vector<torch::Device> TrainingSteps::gpus() const {
    if (setup_.device.is_cpu()) return {};
    return replica_devices(
        setup_.device, replicas_ == nullptr ? 1 : static_cast<std::int64_t>(replicas_->count()));
}

std::vector<base::Phase> TrainingSteps::phases() const {
    std::vector<base::Phase> all{base::Phase::data, base::Phase::copy};
    if (input_ == Input::io_only) return all;
    for (const auto phase : stepper_->phases()) all.push_back(phase);
    return all;
}

// Replica r of N takes the samples that rank r of N would: with the same random numbers, dp's
// losses then equal ddp's.
std::vector<data::Draw> TrainingSteps::draws_of(data::Sampler& sampler, std::int64_t batch) const {
    const std::int64_t per_epoch = sampler.steps_per_epoch();
    if (sampler.epoch() != batch / per_epoch) sampler.set_epoch(batch / per_epoch);
    auto draws = sampler.draws(batch % per_epoch);
    return replicas_ == nullptr ? draws
                                : data::dealt(draws, static_cast<std::int64_t>(replicas_->count()));
}

// Batches are counted over epochs too. An epoch's last step may have fewer micro-batches than the
// others.
std::int64_t TrainingSteps::first_batch_of(std::int64_t step) const {
    const std::int64_t per_epoch = setup_.schedule.steps_per_epoch;
    return step / per_epoch * sampler_.steps_per_epoch() + step % per_epoch * accumulate_;
}

void TrainingSteps::plan(std::int64_t first, std::int64_t end) {
    const std::int64_t begin = first_batch_of(first);
    const std::int64_t batches = input_ == Input::synthetic ? 1 : first_batch_of(end) - begin;
    loader_.start(
        [this, sampler = sampler_](std::int64_t b) mutable { return draws_of(sampler, b); }, begin,
        batches);
    if (input_ != Input::synthetic) return;
    // A copy: the loader's memory is filled anew with its next batch.
    const auto batch = convert_(loader_.next());
    repeated_ = {batch.input.clone(), batch.targets.clone()};
}

train::TensorBatch TrainingSteps::next_input(std::int64_t micro, data::ReadTimes& reading) {
    ++batches_;
    if (input_ == Input::synthetic) {
        const std::int64_t count = std::min(sampler_.local_count(micro), repeated_.count());
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

TrainingSteps::Counts TrainingSteps::make(std::int64_t step) {
    const std::int64_t epoch_begin =
        step / setup_.schedule.steps_per_epoch * sampler_.steps_per_epoch();
    const std::int64_t first = first_batch_of(step) - epoch_begin;
    const std::int64_t end = first_batch_of(step + 1) - epoch_begin;
    recorder_.begin_step();
    Counts counts;
    std::int64_t own = 0;
    for (std::int64_t micro = first; micro < end; ++micro) {
        counts.global += sampler_.global_count(micro);
        counts.unrepeated += sampler_.true_count(micro);
        own += sampler_.local_count(micro);
    }
    // Without synchronisation a rank trains alone: the mean over its own samples is the loss.
    const std::int64_t of = trains_alone() ? own : counts.global;
    data::ReadTimes reading;
    std::vector<std::pair<torch::Tensor, std::int64_t>> losses;
    for (std::int64_t micro = first; micro < end; ++micro) {
        const auto tensors = next_input(micro, reading);
        if (input_ == Input::io_only) {
            counts.local += tensors.count();
            continue;
        }
        losses.emplace_back(
            stepper_->accumulate(tensors, share_of(tensors.count(), of), micro + 1 == end),
            tensors.count());
    }
    if (input_ != Input::io_only) counts.updated = stepper_->update();
    // Read here, not between forward and backward, where it would wait for a device.
    for (const auto& [loss, samples] : losses) {
        if (loss.defined()) counts.loss_sum += loss.item<double>() * static_cast<double>(samples);
        counts.local += samples;
    }
    end_step();
    last_reading_ = reading;
    return counts;
}

void TrainingSteps::end_step() {
    if (device_phases_)
        device_phases_->finish_step();
    else
        recorder_.end_step();
}

CheckResult TrainingSteps::check_first_gradient(std::int64_t epoch) {
    const auto batch = first_batch(epoch);
    return replicas_ == nullptr ? check_sum(batch) : check_replicas(batch);
}

train::TensorBatch TrainingSteps::first_batch(std::int64_t epoch) {
    const std::int64_t steps = setup_.schedule.steps_per_epoch;
    plan(epoch * steps, epoch * steps + 1);
    return input_ == Input::synthetic ? repeated_ : convert_(loader_.next());
}

CheckResult TrainingSteps::check_sum(const train::TensorBatch& batch) {
    const std::string check = "gradients summed correctly";
    if (trains_alone()) return {check, "not verified", "sync none sums nothing"};
    const auto& speed = setup_.options.speed;
    const double scale = train::gate_scale(speed.precision);
    const double of_device = train::rounding_bound(speed.precision, setup_.device.type());
    const auto bound_of = [&](train::Compression compression) {
        return std::max(gradient_bound(speed.parameter_type(), compression), of_device);
    };
    const auto gate = experiments::check_first_gradient(
        model_, *sync_, batch, scale * share_of(batch.count(), sampler_.global_count(0)),
        setup_.data_plane, setup_.control, bound_of(setup_.options.compression),
        0.1 * bound_of(train::Compression::none));
    const std::string detail = fmt::format(
        "largest relative difference {:.1e} ({}), allowed {:.0e}; the gradient's norm is {:.3g}",
        gate.worst, gate.where, gate.bound, gate.norm / scale);
    if (gate.passed) return {check, "passed", detail};
    if (!std::isfinite(gate.norm))
        return {check, "failed",
                fmt::format("the first gradient's norm is {}: the network makes no numbers of "
                            "these samples; nothing was timed",
                            gate.norm)};
    return {check, "failed",
            fmt::format(
                "the first gradient of --sync {} is not the sum over ranks: {}; nothing was timed",
                *setup_.options.settings.sync, detail)};
}

CheckResult TrainingSteps::check_replicas(const train::TensorBatch& batch) {
    const auto result = train::check_replicas(*replicas_, batch, setup_.options.speed.precision);
    return {"replicas' gradient equals one model's", result.passed ? "passed" : "failed",
            result.detail};
}

void TrainingSteps::make_ranks_equal() {
    if (keeps_ranks_equal_)
        train::take_state_of_rank_0(model_, *optimizer_, scaler_.get(), setup_.control);
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
    for (const auto& stamp : sync_->stamps()) {
        if (stamp.end != train::Clock::time_point())  // on a device the host does not see it
            step.reductions.push_back({seconds(stamp.ready), seconds(stamp.start),
                                       seconds(stamp.moving), seconds(stamp.end)});
    }
    return step;
}

CommunicationFacts TrainingSteps::facts() const {
    CommunicationFacts facts;
    for (const auto& stamp : sync_->stamps()) facts.bucket_bytes.push_back(stamp.bytes);
    for (const auto& bucket : sync_->buckets()) facts.bucket_parameters.push_back(bucket.size());
    return facts;
}

OverlapProbe probe_overlap(TrainingSteps& steps, comm::Communicator& control, std::int64_t pairs,
                           StopPoll& stop) {
    OverlapProbe probe;
    steps.plan(0, 2 * (pairs + 1));
    std::int64_t step = 0;
    const auto timed = [&](bool silent) {
        steps.silence(silent);
        control.barrier();
        steps.make(step++);
        steps.silence(false);
        return steps.recorder().last_step();
    };
    constexpr auto kBackward = static_cast<std::size_t>(base::Phase::backward);
    // The first pair warms up. Pairs in turns, so that a machine that slows down slows both.
    for (std::int64_t i = 0; i <= pairs && !stop.ask(); ++i) {
        for (const bool silent : {i % 2 == 0, i % 2 != 0}) {
            const auto times = timed(silent);
            if (i == 0) continue;
            auto& made = probe.pairs;
            (silent ? made.without : made.with).push_back(times.step);
            (silent ? made.backward_without : made.backward_with)
                .push_back(times.phases[kBackward]);
            if (!silent) probe.reductions.push_back(steps.reductions());
        }
    }
    steps.make_ranks_equal();
    return probe;
}

}  // namespace ranklab::experiments
