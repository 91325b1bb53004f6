#include "experiments/training/run.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/utils.h>

#include <functional>
#include <memory>

#include "comm/backend.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/training/checkpoint.hpp"
#include "experiments/training/checkpoint_settings.hpp"
#include "experiments/training/format_trial.hpp"
#include "experiments/training/loop.hpp"
#include "experiments/training/model_of.hpp"
#include "experiments/training/outcome.hpp"
#include "experiments/training/parameter_file.hpp"
#include "experiments/training/resources.hpp"
#include "train/channels_last.hpp"
#include "train/rewind.hpp"

namespace ranklab::experiments {
namespace {

constexpr const char* kFormatSetting = "--channels-last";

data::Sampler sampler_of(const TrainingOptions& options, const data::DataSet& data,
                         const comm::Communicator& control) {
    return data::Sampler(
        {.samples = data.train->size(),
         .rank = control.rank(),
         .world_size = control.world_size(),
         .batch = *options.settings.batch_size,
         .sharding = options.settings.sharding == "pad" ? data::Sharding::pad : data::Sharding::exact,
         .shuffle = options.settings.shuffle == "on",
         .seed = options.seed()});
}

data::DataSet opened(const data::SourceEntry& source, const TrainingOptions& options,
                     const RunContext& around) {
    around.started("resources and device");
    around.progress.activity("reading data");
    auto data = source.open(data_request(options), around.control);
    stop_if_asked(around.control, "before the first step; nothing was measured");
    return data;
}

measure::Schedule schedule_of(TrainingOptions& options, std::int64_t steps_per_epoch) {
    auto& warmup = options.common.warmup;
    if (options.settings.steps) return measure::schedule_steps(options.most_steps, *warmup, steps_per_epoch);
    const auto epochs = *options.settings.epochs;
    vocabulary::settle(warmup, measure::default_warmup(epochs * steps_per_epoch));
    return measure::schedule_epochs(epochs, *warmup, steps_per_epoch);
}

// The steps, and the learning rates in them.
measure::Schedule plan_steps(TrainingOptions& options, const RunContext& around, std::int64_t samples,
                             std::int64_t batches_per_epoch) {
    const auto accumulate = options.settings.accumulate;
    const auto schedule = schedule_of(options, (batches_per_epoch + accumulate - 1) / accumulate);
    settle_lr_total(options.settings, options.rate, samples, schedule.total);
    around.options.settle(options.common);
    around.options.settle(options.settings);
    comm::together(around.control, [&] {
        if (around.control.rank() == 0)
            check_rates(options.rate, schedule.total - 1, schedule.epoch_of(schedule.total - 1));
    });
    return schedule;
}

// Nothing without --checkpoint.
std::unique_ptr<Checkpoints> make_checkpoints(const TrainingOptions& options, const RunContext& around,
                                              const nn::Model& model, std::int64_t samples) {
    if (!options.settings.checkpoint.has_value()) return nullptr;
    const bool own_buffers =
        around.control.world_size() > 1 && !options.broadcasts_buffers() && !model.buffers().empty();
    const CheckpointSettings facts{{"ranks", fmt::format("{}", around.control.world_size())},
                                   {"training samples", fmt::format("{}", samples)}};
    return std::make_unique<Checkpoints>(
        Checkpoints::Plan{.folder = *options.settings.checkpoint,
                          .resume = options.settings.resume,
                          .every = options.settings.checkpoint_every.value_or(0),
                          .own_buffers = own_buffers,
                          .settings = settings_of_numbers(around.options, facts),
                          .open = options.format.open ? kFormatSetting : ""},
        around.control, model);
}

measure::Schedule resumed(const measure::Schedule& schedule, const Checkpoints* checkpoints,
                          comm::Communicator& control) {
    measure::Schedule rest = schedule;
    comm::together(control, [&] {
        if (checkpoints != nullptr) rest = measure::resume_after(schedule, checkpoints->completed_steps());
    });
    return rest;
}

FormatChoice format_of_checkpoint(const TrainingOptions& options, Checkpoints& checkpoints) {
    return {.asked = options.format.asked,
            .channels_last = checkpoints.setting(kFormatSetting) == "true",
            .why = "the run of the checkpoint took it"};
}

// What was open until now: the model, and all that says which format it is in.
void take_format(TrainingOptions& options, const RunContext& around, nn::Model& model,
                 Checkpoints* checkpoints, const std::function<FormatChoice()>& trial) {
    if (!options.format.open) return;
    const bool resumes = checkpoints != nullptr && checkpoints->completed_steps() > 0;
    options.format = resumes ? format_of_checkpoint(options, *checkpoints) : trial();
    options.speed.channels_last = options.format.channels_last;
    train::use_channels_last(model, options.format.channels_last);
    const std::string value = options.format.channels_last ? "true" : "false";
    options.settings.channels_last = value;
    around.options.settle(options.settings);
    if (checkpoints != nullptr) checkpoints->setting(kFormatSetting) = value;
}

bool saves_parameters(const TrainingOptions& options, const comm::Communicator& control) {
    return control.rank() == 0 && options.settings.save_parameters.has_value();
}

void check_files_beside(const TrainingOptions& options, const nn::Model& model, comm::Communicator& control) {
    comm::together(control, [&] {
        if (saves_parameters(options, control))
            check_parameter_file(*options.settings.save_parameters, model);
        if (control.rank() == 0 && !options.ablation.benchy_json.empty())
            check_benchy_file(options.ablation.benchy_json);
    });
}

// From here on the ranks draw different numbers (dropout); rank 0 goes on as a single rank would.
void draw_own_numbers(std::uint64_t seed, int rank) {
    if (rank > 0) torch::manual_seed(seed + static_cast<std::uint64_t>(rank));
}

// The overlap's steps come last: they leave other parameters than the run's.
void drive(TrainingLoop& loop, TrainingOutcome& outcome, const TrainingOptions& options,
           const nn::Model& model, const comm::Communicator& control) {
    if (options.ablation.on) return loop.ablate();
    loop.run();
    if (saves_parameters(options, control))
        outcome.write_beside([&] { write_parameter_file(*options.settings.save_parameters, model); });
    loop.probe_overlap();
}

}  // namespace

results::Run make_training_run(TrainingOptions options, const RunContext& around) {
    comm::Communicator& control = around.control;
    check_resources(options, around);
    const ComputeDevice device(options.speed, control);
    at::set_num_threads(compute_threads(options));
    const auto source = entry_of(data::sources(), *options.settings.data);
    const auto data = opened(source, options, around);

    around.started("opening the data");
    around.progress.activity("building the model");
    const auto data_plane = entry_of(comm::backends(), *options.settings.backend).make(control);
    const auto make_prepared = [&](torch::Device place) {
        return prepared(make_model(options), options.speed, place, "--model " + options.settings.model);
    };
    const auto model = make_prepared(device.get());
    around.started("building the model");
    check_files_beside(options, *model, control);

    const auto samples = data.train->size();
    const data::Sampler sampler = sampler_of(options, data, control);
    const auto planned = plan_steps(options, around, samples, sampler.steps_per_epoch());
    const auto checkpoints = make_checkpoints(options, around, *model, samples);
    const auto schedule = resumed(planned, checkpoints.get(), control);
    // After all that may refuse the run, since it takes seconds; the training finds no trace of it.
    take_format(options, around, *model, checkpoints.get(), [&] {
        train::Rewind rewind(*model, train::default_generators(device.get()));
        auto choice = trial_choice(options, around, samples, device.get());
        rewind();
        return choice;
    });
    around.started("checkpoints and the memory format");
    draw_own_numbers(options.seed(), control.rank());

    TrainingOutcome outcome(around, {.options = options,
                                     .data = data,
                                     .model = *model,
                                     .checkpoints = checkpoints.get(),
                                     .rate_warning = lr_warning(options.rate, planned.total)});
    TrainingLoop loop({.options = options,
                       .data = data,
                       .source = source,
                       .schedule = schedule,
                       .control = control,
                       .data_plane = *data_plane,
                       .progress = around.progress,
                       .make_model = make_prepared,
                       .device = device.get(),
                       .checkpoints = checkpoints.get(),
                       .start_up = around.start_up,
                       .counting = around.counting},
                      *model, sampler);
    drive(loop, outcome, options, *model, control);
    return outcome.finish(loop);
}

}  // namespace ranklab::experiments
