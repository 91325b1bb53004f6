#include "experiments/training/options.hpp"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/utils.h>
#include <torch/version.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "comm/backend.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "experiments/training/ablation.hpp"
#include "experiments/training/checkpoint.hpp"
#include "experiments/training/observer.hpp"
#include "host/process.hpp"
#include "host/topology.hpp"
#include "nn/own_network.hpp"
#include "options/schema.hpp"
#include "train/equal_state.hpp"
#include "vocabulary/names.hpp"

namespace ranklab::experiments {
namespace {

data::Sampler sampler_of(const TrainingOptions& options, const data::DataSet& data,
                         const comm::Communicator& control) {
    return data::Sampler({.samples = data.train->size(),
                          .rank = control.rank(),
                          .world_size = control.world_size(),
                          .batch = *options.settings.batch_size,
                          .sharding = options.settings.sharding == "pad" ? data::Sharding::pad
                                                                         : data::Sharding::exact,
                          .shuffle = options.settings.shuffle == "on",
                          .seed = options.seed()});
}

// Returns the number of samples and the bytes of the first and the last sample.
std::string identity_of(const data::Source& source) {
    const auto input_bytes = source.layout().input.bytes();
    std::string bytes(input_bytes + source.layout().target.bytes(), '\0'), all;
    auto* const at = reinterpret_cast<std::byte*>(bytes.data());
    for (const std::int64_t index : {std::int64_t{0}, source.size() - 1}) {
        data::ReadTimes times;
        if (source.size() > 0) source.read({.index = index}, at, at + input_bytes, times);
        all += bytes;
    }
    return fmt::format("{} {}", source.size(), all);
}

// Throws DataError if files differ: ranks that make different numbers of steps would wait forever.
void agree_on_files(const TrainingOptions& options, const data::DataSet& data,
                    comm::Communicator& control) {
    std::string mine = options.structure;
    comm::all_or_throw(control, [&] {
        mine += identity_of(*data.train);
        if (options.settings.evaluate != "off") mine += identity_of(*data.test);
    });
    if (!comm::is_same_everywhere(control, mine))
        comm::throw_on_all<base::DataError>(
            control, 0,
            "the ranks read different files: network, number of samples, first or last sample "
            "differ; give all hosts the same files");
}

data::DataSet opened(const data::SourceEntry& source, const TrainingOptions& options,
                     const RunContext& around) {
    around.started("resources and device");
    around.progress.activity("reading data");
    auto data = source.open(data_request(options), around.control);
    agree_on_files(options, data, around.control);
    data.train = data::costly(data.train, options.settings.loader_cost_us);
    stop_if_asked(around.control, "before the first step; nothing was measured");
    return data;
}

measure::Schedule schedule_of(TrainingOptions& options, std::int64_t steps_per_epoch) {
    auto& warmup = options.common.warmup;
    if (options.settings.steps)
        return measure::schedule_steps(
            most_samples(options.settings.target_ci, options.common.time_limit.has_value(),
                         *options.settings.steps),
            *warmup, steps_per_epoch);
    const auto epochs = *options.settings.epochs;
    vocabulary::settle(warmup, measure::default_warmup(epochs * steps_per_epoch));
    return measure::schedule_epochs(epochs, *warmup, steps_per_epoch);
}

// Plans the steps and settles the options that depend on the number of samples.
measure::Schedule plan_steps(TrainingOptions& options, const RunContext& around,
                             std::int64_t samples, std::int64_t batches_per_epoch) {
    const auto accumulate = options.settings.accumulate;
    const auto schedule = schedule_of(options, (batches_per_epoch + accumulate - 1) / accumulate);
    settle_lr_total(options.settings, options.rate, samples, schedule.total);
    comm::on_root(around.control, [&] {
        check_rates(options.rate, schedule.total - 1, schedule.epoch_of(schedule.total - 1));
    });
    return schedule;
}

// Throws OptionError if the model cannot compute the last batch of an epoch or evaluation:
// BatchNorm needs several values per channel.
void check_batches(const TrainingOptions& options, nn::Model& model, const data::DataSet& data,
                   const data::Sampler& sampler, std::int64_t batches,
                   const comm::Communicator& control) {
    const auto& settings = options.settings;
    const std::int64_t batch = *settings.batch_size, replicas = settings.replicas.value_or(1);
    if (options.input == Input::io_only) return;
    const auto place = model.parameters().front().device();
    const bool own = model_entry(settings).from_file;
    const auto check = [&](std::int64_t size, bool trains, const std::string& where) {
        if (size == 0 || (size > 1 && (size >= batch || !own))) return;
        train::StateSnapshot rewind(model, train::default_generators(place));
        const torch::NoGradGuard no_gradients;
        const auto some = sample_batch(options, size);
        model.train(trains);
        try {
            model.loss(model.forward(some.input.to(place)), some.targets.to(place));
        } catch (const std::exception& error) {
            throw base::OptionError(
                fmt::format("{} has only {} sample(s) on a rank or replica: {}; change the batch "
                            "size or the number of samples",
                            where, size, base::split(error.what(), '\n').front()),
                {"batch-size", "sharding", "train-samples", "validation-samples"});
        }
        rewind();
    };
    const std::int64_t last = std::min(batches, sampler.steps_per_epoch()) - 1;
    for (const std::int64_t step : {std::int64_t{0}, last}) {
        const std::int64_t count = sampler.local_count(step);
        const std::int64_t most = std::max<std::int64_t>(1, (count + replicas - 1) / replicas);
        for (const auto size : {std::min(most, count), (count + most - 1) % most + (count > 0)})
            check(size, true, fmt::format("batch {} of an epoch", step + 1));
    }
    const auto share = base::share_of(data.test->size(), control.rank(), control.world_size());
    if (settings.evaluate != "off")
        check(share.count % *settings.eval_batch_size, false, "the last batch of an evaluation");
    model.train();
}

void add_replicas(results::Run& run, const train::DataParallel& replicas) {
    const auto& threads = replicas.threads();
    if (replicas.places().on_gpus()) return;
    run.context.push_back({"training", "replicas", threads.placement()});
    if (!threads.cpus().empty()) return;
    const auto cores = host::cores_in(host::cpuset());
    run.warnings.push_back(
        fmt::format("{} replicas share {}: use fewer, or more cores ({} --bind-to none, srun "
                    "--cpus-per-task={})",
                    threads.count(), cores, base::mpirun(), threads.count()));
}

void add_facts(results::Run& run, const TrainingSteps& steps) {
    if (const auto* const replicas = steps.replicas(); replicas != nullptr)
        add_replicas(run, *replicas);
    if (const auto* const scaler = steps.scaler(); scaler != nullptr) {
        const Facts fact{run, "training"};
        fact("loss_scale", scaler->scale());
        fact("skipped_steps", scaler->skipped());
    }
}

void add_facts(results::Run& run, const data::DataSet& data, const nn::Model& model,
               const std::string& structure) {
    const Facts library{run, "libraries"}, fact{run, "training"};
    library("libtorch", TORCH_VERSION);
    library("libtorch_cpu_capability", at::get_cpu_capability());
    fact("parameters", nn::parameter_count(model));
    if (!structure.empty()) fact("structure", structure);
    fact("data_origin", data.origin);
    fact("train_samples", data.train->size());
    fact("test_samples", data.test->size());
    fact("intra_op_threads", at::get_num_threads());
}

// Adds traits of the run's --sync and --data entries, since reports do not know the catalogues.
void add_entry_facts(results::Run& run, const TrainingOptions& options,
                     const data::SourceEntry& source) {
    const auto sync = entry_of(train::gradient_syncs(), *options.settings.sync);
    const std::pair<vocabulary::FactName, bool> facts[] = {
        {vocabulary::fact::kSumsGradients, sync.keeps_ranks_equal},
        {vocabulary::fact::kSumsAtOnce, sync.sums_at_once},
        {vocabulary::fact::kSumsInBackward, sync.overlaps && options.settings.progress != "none"},
        {vocabulary::fact::kCapsBuckets, sync.caps_buckets},
        {vocabulary::fact::kWaitsInBackward, sync.waits_in_backward},
        {vocabulary::fact::kReadsInTurn, source.reads_in_turn}};
    for (const auto& [name, holds] : facts) run.add_fact(name, vocabulary::yes_or_no(holds));
}

}  // namespace

results::Run make_training_run(TrainingOptions options, const RunContext& around) {
    comm::Communicator& control = around.control;
    check_resources(options, around);
    const ComputeDevice device(options.settings, control);
    at::set_num_threads(compute_threads(options));
    const auto source = entry_of(data::sources(), *options.settings.data);
    const auto data = opened(source, options, around);
    check_data(options, data.train->size(), control);

    around.started("opening the data");
    around.progress.activity("building the model");
    const auto data_plane = entry_of(comm::backends(), *options.settings.backend).make(control);
    const auto make_prepared = [&](torch::Device place) {
        return prepared(make_model(options), options.settings, place);
    };
    const auto model = make_prepared(device.get());
    around.started("building the model");
    const auto samples = data.train->size();
    const data::Sampler sampler = sampler_of(options, data, control);
    const auto planned = plan_steps(options, around, samples, sampler.steps_per_epoch());
    comm::all_or_throw(control, [&] {
        check_batches(options, *model, data, sampler, planned.total * options.settings.accumulate,
                      control);
    });
    std::optional<Checkpoint> checkpoint;
    if (options.settings.checkpoint) checkpoint.emplace(options, samples, *model, control);
    auto schedule = planned;
    comm::all_or_throw(control, [&] {
        if (checkpoint) schedule = measure::resume_after(planned, checkpoint->completed_steps());
    });
    around.started("checkpoints");
    // Ranks draw different numbers (dropout). Rank 0 draws the numbers that a run of one rank
    // draws.
    if (control.rank() > 0) torch::manual_seed(options.seed() + control.rank());

    TrainingSteps steps({.options = options,
                         .data = data,
                         .source = source,
                         .sampler = sampler,
                         .steps_per_epoch = schedule.steps_per_epoch,
                         .control = control,
                         .data_plane = *data_plane,
                         .make_model = make_prepared,
                         .device = device.get()},
                        *model);
    ObservedRun observed{.options = options,
                         .schedule = schedule,
                         .data = data,
                         .model = *model,
                         .steps = steps,
                         .around = around,
                         .checkpoint = checkpoint ? &*checkpoint : nullptr};
    TrainingLoop loop(observed);
    std::vector<TrialTimes> trials;
    if (options.settings.ablation)
        trials = make_trials(observed);
    else
        loop.run();
    loop.end();

    around.progress.activity("gathering timings");
    results::Run run;
    run.config = settings_of(options.effective());
    add_facts(run, data, *model, options.structure);
    add_entry_facts(run, options, source);
    add_facts(run, steps);
    if (const auto warning = lr_warning(options.rate, planned.total); !warning.empty())
        run.warnings.push_back(warning);
    if (const auto training = options.own.fixed_mode;
        training && (!*training || options.settings.evaluate != "off"))
        run.warnings.push_back(
            fmt::format("the network was traced in {} mode, {}; save it with torch.jit.script",
                        *training ? "training" : "evaluation",
                        *training ? "so evaluation also uses dropout and the batch's statistics"
                                  : "so training uses neither dropout nor the batch's statistics"));
    if (const auto batch = *options.settings.global_batch_size; batch > samples)
        run.warnings.push_back(
            fmt::format("the global batch, {}, exceeds the {} samples: use a smaller --batch-size",
                        batch, samples));
    loop.fill(run);
    if (control.rank() == 0) add_memory(run, options);
    if (options.settings.ablation) add_trials(run, observed, trials);
    around.progress.finish();
    return run;
}

namespace {

std::vector<results::Setting> facts_of(const TrainingOptions& options, int world_size) {
    const auto& outline = options.outline;
    const auto& settings = options.settings;
    std::vector<results::Setting> facts{
        {"parameters", fmt::format("{}", outline.parameters), true},
        {"forward-flops-per-sample",
         fmt::format("{} ({:.4g} GFLOP: 2 x multiply-accumulates of convolutions and matrix "
                     "products; training about 3 times that)",
                     outline.forward_flops, 1e-9 * static_cast<double>(outline.forward_flops)),
         false},
        {"learning-rate", lr_text(options.rate), false},
        {"ranks", fmt::format("{}", world_size), true}};
    if (outline.flops_per_token > 0) facts.push_back({"note", outline.mfu_formula, false});
    std::vector<std::string> open;  // settings that depend on the number of samples
    if (!options.common.warmup) open.emplace_back("warmup");
    if (train::is_cosine(options.rate.shape) && options.rate.total_steps == 0)
        open.emplace_back("lr-total-steps");
    if (!open.empty())
        facts.push_back({"settled-when-the-data-is-read", base::join(open, ", "), false});
    if (options.is_first_look)
        facts.push_back({"note",
                         fmt::format("only {} steps, the default; --epochs 1 trains on all samples",
                                     *settings.steps),
                         false});
    if (options.precision() == train::Precision::fp16 && !options.on_gpu())
        facts.push_back(
            {"note",
             "fp16 is not made for CPUs: steps are many times slower than with --precision "
             "fp32 or bf16",
             false});
    if (const auto note = made_for_note(options, world_size); !note.empty())
        facts.push_back({"note", note, false});
    return facts;
}

void read_ahead(const vocabulary::TrainingSettings& settings) {
    auto data = settings.data;
    for (const auto& model : nn::models())
        if (!data && model.name == settings.model) data = model.defaults.data;
    for (const auto& source : data::sources())
        if (source.name == data && source.read_ahead && settings.input == "real")
            source.read_ahead(settings.data_dir.value_or(""));
}

LaunchNeeds needs(const options::Options& given) {
    const auto settings = given.fields<vocabulary::TrainingSettings>();
    return {.gpus = settings.device != "cpu",
            .several_ranks = vocabulary::mode_of(settings).several_ranks ||
                             settings.expected_ranks.value_or(1) > 1,
            .read_ahead = [settings] { read_ahead(settings); }};
}

Plan planned_run(const options::Options& given, const vocabulary::CommonSettings& common,
                 comm::Communicator& control) {
    TrainingOptions settled;
    std::vector<results::Setting> facts;
    comm::all_or_throw(control, [&] {
        settled = settle_training(given, common, control.world_size());
        facts = facts_of(settled, control.world_size());
        if (common.dry_run && control.rank() == 0)
            for (auto& row : memory_settings(settled, control.local_size()))
                facts.push_back(std::move(row));
    });
    settled = settle_overlap_way(std::move(settled), control);
    return {.settings = settled.effective(),
            .facts = std::move(facts),
            .uses_gpus = settled.on_gpu(),
            .rehearse =
                [settled](auto& of_job) {
                    if (settled.settings.buckets)
                        comm::on_root(of_job, [&] { write_bucket_file(settled); });
                },
            // After a stop signal the run ends early and says so; before the first step, throws
            // base::Interrupted.
            .run = [settled](const RunContext& context) -> Runs {
                return {{make_training_run(settled, context)}};
            }};
}

}  // namespace

Experiment train_experiment() {
    return {.command = "train",
            .summary = "Trains a network on one or many ranks and times every phase of every step.",
            .examples =
                "  ranklab train --steps 200\n"
                "      one rank, Fashion-MNIST, the published network\n"
                "  mpirun -n 2 ranklab train --batch-size 32 --epochs 3\n"
                "      two ranks, global batch 64\n"
                "  ranklab train --mode dp --replicas 2 --batch-size 64\n"
                "      one process, two threads that share the batch\n"
                "  ranklab sweep train --ranks 1,2,4 --scaling strong --global-batch-size 64\n"
                "      how it scales\n"
                "  srun -n 8 ranklab train --config configs/mnist/ddp2.ini\n"
                "      a named configuration under Slurm\n"
                "  ranklab train --data synthetic --steps 50 --output none     no files at all\n",
            .options = training_schema(),
            .listings =
                [] {
                    return std::vector{listing_of("--model", nn::models()),
                                       listing_of("--data", data::sources()),
                                       listing_of("--sync", train::gradient_syncs()),
                                       listing_of("--optimizer", train::optimizers()),
                                       listing_of("--backend", comm::backends())};
                },
            .needs = needs,
            .settle = planned_run};
}

}  // namespace ranklab::experiments
