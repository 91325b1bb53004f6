#include "experiments/training/training.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/utils.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>

#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "base/thread_trial.hpp"
#include "comm/backend.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/training/batch_sweep.hpp"
#include "experiments/training/checkpoint.hpp"
#include "experiments/training/checkpoint_settings.hpp"
#include "experiments/training/loop.hpp"
#include "experiments/training/made_for.hpp"
#include "experiments/training/options.hpp"
#include "experiments/training/outcome.hpp"
#include "experiments/training/parameter_file.hpp"
#include "host/facts.hpp"
#include "host/process.hpp"
#include "nn/outline.hpp"

namespace ranklab::experiments {
namespace {

nn::InputShape input_shape(const TrainingOptions& options) {
    auto input = entry_of(nn::models(), options.model).input;
    input.height = input.width = options.input.edge;
    if (input.is_volume()) input.depth = options.input.edge;
    return input;
}

nn::ModelConfig model_config(const TrainingOptions& options) {
    return {.input = input_shape(options),
            .dropout = options.dropout,
            .width = options.width,
            .full_scale = options.full_scale,
            .lambda_rho = options.lambda_rho};
}

// One seed gives every rank the same weights; rank 0's are broadcast all the same, and compared afterwards.
std::shared_ptr<nn::Model> make_model(const TrainingOptions& options) {
    const auto entry = entry_of(nn::models(), options.model);
    torch::manual_seed(options.seed);
    return entry.make(model_config(options));
}

nn::Outline outline_of(const TrainingOptions& options) {
    return nn::outline_of(entry_of(nn::models(), options.model), model_config(options));
}

// In fp32, whatever it is computed in.
RankMemory memory_of(const TrainingOptions& options) {
    const auto input = input_shape(options);
    const auto elements = [](const std::vector<std::int64_t>& sizes) {
        return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
    };
    constexpr std::int64_t kBytes = sizeof(float);
    return {.sample_bytes = kBytes * (elements(input.input_sizes()) + elements(input.target_sizes())),
            .model_bytes = 2 * kBytes * outline_of(options).parameters};
}

data::DataRequest data_request(const TrainingOptions& options) {
    const auto input = input_shape(options);
    return {.input = input.input_sizes(),
            .target = input.target_sizes(),
            .classes = input.classes,
            .directory = options.data_directory,
            .seed = options.seed,
            .train_samples = options.input.train_samples,
            .test_samples = options.input.validation_samples,
            .volume = options.input.volume};
}

measure::Schedule make_schedule(options::Options& all, const TrainingOptions& options,
                                std::int64_t steps_per_epoch) {
    if (options.steps > 0)
        return measure::schedule_steps(options.most_steps, all.integer("warmup"), steps_per_epoch);
    if (!all.is_set("warmup"))
        all.resolve("warmup", fmt::format("{}", measure::default_warmup(options.epochs * steps_per_epoch)));
    return measure::schedule_epochs(options.epochs, all.integer("warmup"), steps_per_epoch);
}

struct Overlap {
    train::Progress progress;
    train::Transfer transfer;
};

// How buckets are moved, where the user did not say; the same on all ranks. Measured (docs/overlap.md):
// between hosts a sleeping thread with non-blocking allreduces hides the network. Within a host moving is the
// processors' own work: the blocking allreduce does it in a third of the time, beside backward only where a
// core is free.
Overlap settle_overlap_way(options::Options& all, const comm::Communicator& data, comm::Communicator& control,
                           int threads) {
    const bool one_host = data.local_size() == data.world_size();
    const int cores = host::cores_in(host::cpuset());
    const bool bound = cores * data.local_size() <= static_cast<int>(std::thread::hardware_concurrency());
    const int own_cores = bound ? cores : cores / std::max(1, data.local_size());
    std::int64_t facts[] = {one_host ? 1 : 0, own_cores > threads ? 1 : 0};
    control.allreduce(comm::view(std::span(facts)), comm::ReduceOp::min);
    const bool spare_core = facts[1] == 1;
    if (!all.has("transfer")) all.resolve("transfer", facts[0] == 1 ? "blocking" : "background");
    if (!all.has("progress")) all.resolve("progress", facts[0] == 0 || spare_core ? "thread" : "none");
    const auto& progress = all.text("progress");
    return {progress == "thread" ? train::Progress::thread
            : progress == "poll" ? train::Progress::poll
                                 : train::Progress::none,
            all.text("transfer") == "blocking" ? train::Transfer::blocking : train::Transfer::background};
}

// Nothing without --checkpoint.
std::unique_ptr<Checkpoints> make_checkpoints(const options::Options& all, const TrainingOptions& options,
                                              comm::Communicator& control, const nn::Model& model,
                                              std::int64_t samples) {
    if (options.checkpoint.empty()) return nullptr;
    const bool own_buffers =
        control.world_size() > 1 && !options.broadcast_buffers && !model.buffers().empty();
    const CheckpointSettings facts{{"ranks", fmt::format("{}", control.world_size())},
                                   {"training samples", fmt::format("{}", samples)}};
    return std::make_unique<Checkpoints>(Checkpoints::Plan{.folder = options.checkpoint,
                                                           .resume = options.resume,
                                                           .every = options.checkpoint_every,
                                                           .own_buffers = own_buffers,
                                                           .settings = settings_of_numbers(all, facts)},
                                         control, model);
}

// A step's samples, as they are computed with, and the batches made ahead, of a byte an element at least.
void check_memory(const TrainingOptions& options) {
    const auto sample = static_cast<double>(memory_of(options).sample_bytes);
    const auto batch = static_cast<double>(options.local_batch);
    const double ahead = options.input.workers > 0 ? 1.0 + options.input.prefetch : 1.0;
    const double needed = batch * sample * (1 + ahead / sizeof(float));
    const auto there = static_cast<double>(host::memory_bytes());
    if (there == 0 || needed <= there) return;
    throw base::EnvironmentError(fmt::format(
        "{} samples a step and {:.0f} batches of them need {} for inputs and targets alone, and this "
        "host has {}; use a smaller --batch-size{}",
        options.local_batch, ahead, base::human_bytes(needed), base::human_bytes(there),
        ahead > 1 ? ", or a smaller --prefetch" : ""));
}

int compute_threads(const TrainingOptions& options) {
    return options.threads > 0 ? options.threads : std::max(1, host::cores_in(host::cpuset()));
}

// Before libraries start them in the midst of the work: libgomp then ends the process. All ranks at once,
// since those of a node share its limits.
void check_threads(const TrainingOptions& options, comm::Communicator& control) {
    const auto wanted = static_cast<std::size_t>(compute_threads(options) + options.input.workers) +
                        static_cast<std::size_t>(options.replicas);
    const base::ThreadTrial trial(wanted);
    comm::together(control, [&] {
        if (trial.started() == wanted) return;
        throw base::EnvironmentError(fmt::format(
            "{} threads are needed ({} to compute, {} --workers{}), and the system starts {} of them; "
            "use fewer, or raise its limits (ulimit -u, ulimit -v)",
            wanted, compute_threads(options), options.input.workers,
            options.replicas > 0 ? fmt::format(", {} --replicas", options.replicas) : "", trial.started()));
    });
}

}  // namespace

std::string Training::examples() const {
    return "  ranklab train --steps 200                                   one rank, Fashion-MNIST, the "
           "published network\n"
           "  mpirun -n 2 ranklab train --batch-size 32 --epochs 3        two ranks, global batch 64\n"
           "  ranklab train --mode dp --replicas 2 --batch-size 64        one process, two threads that "
           "share the "
           "batch\n"
           "  srun -n 8 ranklab train --config configs/mnist/ddp2.ini     a named configuration under Slurm\n"
           "  ranklab train --data synthetic --steps 50 --output none     no files at all\n";
}

void Training::describe(options::Schema& schema) const {
    describe_training(schema);
    describe_sweep(schema);
}

std::vector<Listing> Training::listings() const {
    std::vector<Listing> lists;
    const auto list = [&lists](const char* title, const auto& catalogue) {
        Listing listing{title, {}};
        for (const auto& entry : catalogue) listing.entries.emplace_back(entry.name, entry.summary);
        lists.push_back(std::move(listing));
    };
    list("--model", nn::models());
    list("--data", data::sources());
    list("--sync", train::gradient_syncs());
    list("--optimizer", train::optimizers());
    list("--backend", comm::backends());
    return lists;
}

std::vector<results::Setting> Training::resolve(options::Options& options, int world_size) const {
    const auto settled = settle_training(options, world_size);
    const auto outline = outline_of(settled);
    std::vector<results::Setting> facts{
        {"parameters", fmt::format("{}", outline.parameters), true},
        {"forward-flops-per-sample",
         fmt::format("{} ({:.2f} GFLOP: 2 x multiply-accumulates of convolutions and linear layers; training "
                     "about 3 times that)",
                     outline.forward_flops, 1e-9 * static_cast<double>(outline.forward_flops)),
         false},
        {"learning-rate", lr_text(options, settled.rate), false},
        {"ranks", fmt::format("{}", world_size), true}};
    if (const auto note = made_for_note(options, world_size); !note.empty())
        facts.push_back({"note", note, false});
    return facts;
}

std::vector<Variant> Training::variants(const options::Options& options) const {
    return sweep_variants(options);
}

std::string Training::line_of(const results::Run& run) const {
    return repetition_line(run);
}

std::vector<results::Table> Training::compare(const std::vector<results::Run>& runs) const {
    std::vector<results::Table> tables{sweep_table(runs)};
    if (auto repeated = repetitions_table(runs); !repeated.columns.empty())
        tables.push_back(std::move(repeated));
    return tables;
}

results::Run Training::run(const Surroundings& around) {
    const base::StopSignals signals;
    auto run = run_once(around);
    // Of several runs in one command the others are not begun, also where this one was whole by then.
    StopPoll stop(around.control);
    stop.ask();
    stopped_by_ = stop.signal();
    return run;
}

results::Run Training::run_once(const Surroundings& around) {
    comm::Communicator& control = around.control;
    comm::together(control, [&] {
        if (stopped_by_ != 0)
            throw base::Interrupted(fmt::format("stopped by {}: the runs that were left are not made",
                                                base::StopSignals::name_of(stopped_by_)),
                                    stopped_by_);
    });
    auto options = settle_training(around.options, control.world_size());
    comm::together(control, [&] {
        if (control.rank() == 0) check_made_for(around.options, control.world_size(), memory_of(options));
        check_memory(options);
    });
    check_threads(options, control);
    const ComputeDevice device(options.speed, control);
    at::set_num_threads(compute_threads(options));

    around.progress.activity("reading data");
    const auto source = entry_of(data::sources(), options.data);
    const auto data = source.open(data_request(options), control);

    stop_if_asked(control, "before the first step; nothing was measured");
    around.progress.activity("building the model");
    const auto data_plane = entry_of(comm::backends(), options.backend).make(control);
    const auto make_prepared = [&] {
        return prepared(make_model(options), options.speed, device.get(), "--model " + options.model);
    };
    const auto model = make_prepared();
    const bool saves = control.rank() == 0 && !options.save_parameters.empty();
    comm::together(control, [&] {
        if (saves) check_parameter_file(options.save_parameters, *model);
        if (control.rank() == 0 && !options.ablation.benchy_json.empty())
            check_benchy_file(options.ablation.benchy_json);
    });
    // From here on the ranks draw different numbers (dropout); rank 0 goes on as a single rank would.
    if (control.rank() > 0) torch::manual_seed(options.seed + static_cast<std::uint64_t>(control.rank()));

    data::Sampler sampler({.samples = data.train->size(),
                           .rank = control.rank(),
                           .world_size = control.world_size(),
                           .batch = options.local_batch,
                           .sharding = options.sharding,
                           .shuffle = options.shuffle,
                           .seed = options.seed});
    auto schedule = make_schedule(around.options, options,
                                  (sampler.steps_per_epoch() + options.accumulate - 1) / options.accumulate);
    settle_lr_total(around.options, options.rate, data.train->size(), schedule.total);
    comm::together(control, [&] {
        if (control.rank() == 0)
            check_rates(options.rate, schedule.total - 1, schedule.epoch_of(schedule.total - 1));
    });
    const std::string rate_warning = lr_warning(options.rate, schedule.total);
    const auto checkpoints = make_checkpoints(around.options, options, control, *model, data.train->size());
    comm::together(control, [&] {
        if (checkpoints) schedule = measure::resume_after(schedule, checkpoints->completed_steps());
    });

    TrainingOutcome outcome(around, {.data = data,
                                     .model = *model,
                                     .checkpoints = checkpoints.get(),
                                     .ablation = options.ablation.on,
                                     .benchy_json = options.ablation.benchy_json,
                                     .rate_warning = rate_warning});
    const Overlap overlap = settle_overlap_way(around.options, *data_plane, control, at::get_num_threads());
    TrainingLoop loop({.options = options,
                       .data = data,
                       .source = source,
                       .schedule = schedule,
                       .control = control,
                       .data_plane = *data_plane,
                       .progress = around.progress,
                       .make_model = make_prepared,
                       .device = device.get(),
                       .reduction_progress = overlap.progress,
                       .transfer = overlap.transfer,
                       .checkpoints = checkpoints.get(),
                       .tells_first_step = around.first,
                       .keep = [&outcome](const auto& so_far, bool sure) { outcome.keep(so_far, sure); }},
                      *model, sampler);
    options.ablation.on ? loop.ablate() : loop.run();
    const bool more_to_come = options.overlap_steps > 0 || !options.save_parameters.empty();
    if (more_to_come && !options.ablation.on) outcome.keep(loop, true);
    // Before the overlap's steps: they leave other parameters than the run's.
    if (saves) outcome.write_beside([&] { write_parameter_file(options.save_parameters, *model); });
    if (!options.ablation.on) loop.probe_overlap();
    around.progress.activity("gathering timings");
    auto run = outcome.finish(loop);
    around.progress.finish();
    return run;
}

}  // namespace ranklab::experiments
