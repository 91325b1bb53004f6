#include "experiments/training/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "comm/backend.hpp"
#include "data/dataset.hpp"
#include "experiments/shared/target_ci.hpp"
#include "experiments/training/batch_sweep.hpp"
#include "experiments/training/delayed_phases.hpp"
#include "measure/schedule.hpp"

namespace ranklab::experiments {
namespace {

template <class Entry>
std::vector<std::string> names_of(const std::vector<Entry>& catalogue) {
    std::vector<std::string> names;
    for (const auto& entry : catalogue) names.push_back(entry.name);
    return names;
}

void describe_work(options::Schema& schema) {
    schema.section("What is trained")
        .choice("model", names_of(nn::models()), "mnist-cnn", "the network")
        .choice("data", names_of(data::sources()), std::nullopt, "the data set (default: the model's own)")
        .text("data-dir", "DIR", std::nullopt,
              "where the data set's files are (default: $RANKLAB_DATA, then the usual places)")
        .integer("width", {1, 65536}, "1",
                 "divides the channels inside the model: small tests of the same depth")
        .choice("full-scale", {"on", "off"}, "on", "of unet3d: with the innermost layer, down to one voxel")
        .real("lambda-rho", 0, "0", "of unet3d: weight of the density term of the loss")
        .integer("batch-size", {1, kMostBatch}, std::nullopt,
                 "samples per rank and step (default: the model's, 64 for mnist-cnn)")
        .integer("global-batch-size", {1, kMostBatch}, std::nullopt,
                 "samples of all ranks per step, instead of --batch-size")
        .integer("made-for-ranks", {1, kMostBatch}, std::nullopt,
                 "of configurations: with fewer ranks, --accumulate or --batch-size has to be said")
        .integer("epochs", {1, 1'000'000'000}, std::nullopt,
                 "whole passes over the training samples (default: 1)")
        .integer("steps", 1, std::nullopt,
                 "counted steps, instead of --epochs; the warm-up comes before them");
    describe_target(schema, "--steps");
    schema
        .choice("optimizer", names_of(train::optimizers()), std::nullopt,
                "(default: the model's, adadelta for mnist-cnn)")
        .flag("fused-optimizer", "LibTorch's fused kernel of --optimizer sgd or adam")
        .real("momentum", 0, std::nullopt, "of --optimizer sgd (default: the model's, 0.9 for resnets)")
        .choice("dropout", {"on", "off"}, "on", "the model's dropout layers")
        .choice("shuffle", {"on", "off"}, "on", "a new order each epoch, by seed + epoch")
        .choice("sharding", {"pad", "exact"}, "pad",
                "pad: equal shares as PyTorch's DistributedSampler, repeats not counted; exact: every sample "
                "once, weighted mean");
}

void describe_way(options::Schema& schema) {
    schema.section("How it is spread")
        .choice("mode", {"single", "dp", "ddp"}, std::nullopt,
                "dp: replicas in the threads of one rank, as torch.nn.DataParallel (default: single at one "
                "rank, ddp above)")
        .integer("replicas", {1, kMostThreads}, std::nullopt,
                 "of --mode dp; they share the rank's batch and its threads (default: 2)")
        .text(
            "sync", base::join(names_of(train::gradient_syncs()), "|") + "[,NAME]", std::nullopt,
            "how gradients are reduced (default: bucketed for ddp; single and dp have none); several: a run "
            "of each")
        .choice("backend", names_of(comm::backends()), std::nullopt,
                "what carries the gradients (default: nccl between GPUs, else mpi)")
        .real("bucket-cap-mb", {0.001, 1e6}, "25",
              "MiB of gradients in a bucket (the first: 1, if that is less)")
        .choice(
            "progress", {"none", "poll", "thread"}, std::nullopt,
            "who moves data during backward: nobody, backward's hooks, or a thread that sleeps in between "
            "(default: thread between hosts or with a core to spare, else none)")
        .choice("transfer", {"background", "blocking"}, std::nullopt,
                "MPI's non-blocking allreduce, or the blocking one once all ranks are there (default: "
                "background between hosts, blocking within one)")
        .choice("compress", {"none", "fp16", "bf16"}, "none", "what gradients are rounded to for the way")
        .integer("accumulate", {1, 100'000}, "1",
                 "micro-batches a step: gradients are summed over ranks with the last")
        .flag("no-broadcast-buffers",
              "leave BatchNorm's running statistics to each rank, instead of rank 0's before each forward")
        .integer("overlap-steps", {0, 1'000'000}, std::nullopt,
                 "pairs of steps with and without communication after the run, for the overlap "
                 "(default: steps/10, at least 6, at most 20, with ddp on several ranks; 0 below 20 steps)")
        .text("inject-delay", "RANK:PHASE:MS", std::nullopt,
              "make a phase of one rank longer, to see that the report names it");
    schema.section("What is checked")
        .choice("evaluate", {"epoch", "end", "off"}, "epoch",
                "epoch: after each epoch, and where a run of --steps ends; end: once")
        .integer("eval-batch-size", {1, kMostBatch}, std::nullopt,
                 "samples per evaluation batch and rank (default: 1000; large samples: --batch-size)")
        .choice("check-parameters", {"step", "end"}, "end",
                "when the parameters of all ranks are compared, bit by bit")
        .text("save-parameters", "FILE", std::nullopt,
              "rank 0 writes the final parameters here (HDF5, float64, by name)");
}

void describe_checkpoints(options::Schema& schema) {
    schema.section("Checkpoints")
        .text("checkpoint", "DIR", std::nullopt,
              "keep what a later run needs to go on in DIR/checkpoint.h5 (made if missing)")
        .integer(
            "checkpoint-every", 1, std::nullopt,
            "steps between checkpoints (default: at each epoch's end; at the run's end there always is one)")
        .flag("resume", "go on from the checkpoint in --checkpoint DIR; start anew where there is none yet");
}

// Once batch and length are settled.
train::LrSettings settle_rate(options::Options& options) {
    const auto defaults = entry_of(nn::models(), options.text("model")).defaults;
    const bool as_published = options.text("optimizer") == defaults.optimizer;
    const auto optimizer = entry_of(train::optimizers(), options.text("optimizer"));
    return settle_learning_rate(
        options, {.lr = as_published ? defaults.lr : optimizer.default_lr,
                  .schedule = defaults.lr_schedule,
                  .scaling = defaults.lr_scaling,
                  .gamma = defaults.gamma,
                  .base_batch = defaults.base_batch > 0 ? defaults.base_batch : defaults.batch_size,
                  .warmup_steps = defaults.lr_warmup_steps});
}

void settle_optimizer(const options::Options& options) {
    const auto optimizer = entry_of(train::optimizers(), options.text("optimizer"));
    if (options.flag("fused-optimizer") && !optimizer.has_fused) {
        throw base::OptionError(
            fmt::format("LibTorch has no fused kernel for --optimizer {}, and ours is one pass over memory "
                        "already; leave --fused-optimizer out",
                        optimizer.name));
    }
}

void settle_evaluation(options::Options& options, const nn::InputShape& input) {
    constexpr std::int64_t kSmallSample = 10000;
    const bool small =
        input.channels * input.height * input.width * std::max<std::int64_t>(1, input.depth) <= kSmallSample;
    options.resolve_default("eval-batch-size",
                            fmt::format("{}", small ? 1000 : options.integer("batch-size")));
}

InputDefaults input_defaults(const options::Options& options) {
    const auto model = entry_of(nn::models(), options.text("model"));
    return {
        .volumes = model.input.is_volume(), .edge = model.input.height, .workers = model.defaults.workers};
}

void settle_model_defaults(options::Options& options) {
    const auto model = entry_of(nn::models(), options.text("model"));
    options.resolve_default("data", model.defaults.data);
    options.resolve_default("optimizer", model.defaults.optimizer);
    const bool as_published = options.text("optimizer") == model.defaults.optimizer;
    options.resolve_default("momentum", fmt::format("{}", as_published ? model.defaults.momentum : 0.0));
}

void settle_batch(options::Options& options, int world_size) {
    options.prefer_one_of("batch-size", "global-batch-size");
    const std::int64_t parts = world_size * options.integer("accumulate");
    if (options.is_set("global-batch-size")) {
        const auto global = options.integer("global-batch-size");
        if (global % parts != 0) {
            throw base::OptionError(fmt::format(
                "--global-batch-size {} does not divide by {} ranks{}; use {} or {}", global, world_size,
                parts == world_size ? "" : fmt::format(" with {} micro-batches each", parts / world_size),
                std::max<std::int64_t>(1, global / parts) * parts, (global / parts + 1) * parts));
        }
        options.resolve("batch-size", fmt::format("{}", global / parts));
    } else {
        const auto model = entry_of(nn::models(), options.text("model"));
        options.resolve_default("batch-size", fmt::format("{}", model.defaults.batch_size));
        options.resolve("global-batch-size", fmt::format("{}", options.integer("batch-size") * parts));
        options.check("global-batch-size");
    }
}

// Replicas share one process: they are reduced in its memory, and no rank takes part but one.
void settle_replicas(options::Options& options) {
    if (options.text("mode") == "dp") {
        options.resolve_default("replicas", "2");
    } else if (options.is_set("replicas")) {
        throw base::OptionError(fmt::format(
            "--replicas {} is of --mode dp, but the mode is {}; say --mode dp too, or leave --replicas out",
            options.integer("replicas"), options.text("mode")));
    }
}

void settle_mode(options::Options& options, int world_size) {
    options.resolve_default("mode", world_size == 1 ? "single" : "ddp");
    const std::string mode = options.text("mode");
    const bool one_rank = mode != "ddp";
    if (one_rank && world_size > 1) {
        throw base::OptionError(fmt::format(
            "--mode {} is one rank's, but {} were started; use --mode ddp, or start one", mode, world_size));
    }
    options.resolve_default("sync", one_rank ? "none" : "bucketed");
    static_cast<void>(chosen_syncs(options, names_of(train::gradient_syncs())));
    const auto sync = entry_of(train::gradient_syncs(), options.text("sync"));
    if (options.text("compress") != "none" && !sync.compresses) {
        throw base::OptionError(
            fmt::format("--sync {} sends gradients as they are; --compress {} is for --sync bucketed",
                        options.text("sync"), options.text("compress")));
    }
    if (options.is_set("progress") && options.text("progress") != "thread" && sync.name == "c10d")
        throw base::OptionError(
            "--sync c10d waits for its sums inside backward, so it needs --progress thread");
    if (one_rank && options.text("sync") != "none") {
        throw base::OptionError(fmt::format(
            "--mode {} has nothing to synchronise, so --sync {} cannot be; use --mode ddp (it runs at "
            "one rank too) or leave --sync out",
            mode, options.text("sync")));
    }
    settle_replicas(options);
    if (mode == "dp" && options.integer("accumulate") > 1)
        throw base::OptionError(
            "--mode dp makes a step of one batch; leave --accumulate out, or use --mode ddp");
    if (options.is_set("backend") && options.text("backend") == "self" && world_size > 1) {
        throw base::OptionError("--backend self serves one rank; use --backend mpi");
    }
}

void settle_overlap(options::Options& options, int world_size) {
    const bool measurable =
        world_size > 1 && entry_of(train::gradient_syncs(), options.text("sync")).keeps_ranks_equal;
    if (!measurable && options.is_set("overlap-steps") && options.integer("overlap-steps") > 0)
        throw base::OptionError("--overlap-steps compares with and without communication; this run has none");
    const std::int64_t steps = options.is_set("steps") ? options.integer("steps") : 200;
    options.resolve_default(
        "overlap-steps",
        fmt::format("{}", measurable && steps >= 20 ? std::clamp<std::int64_t>(steps / 10, 6, 20) : 0));
}

void settle_checkpoints(const options::Options& options, int world_size) {
    for (const char* name : {"resume", "checkpoint-every"}) {
        const bool asked = options.is_set(name) && options.text(name) != "false";
        if (asked && !options.has("checkpoint"))
            throw base::OptionError(
                fmt::format("--{} needs --checkpoint DIR, the folder of the checkpoint", name));
    }
    if (!options.has("checkpoint")) return;
    if (options.text("checkpoint").empty())
        throw base::OptionError("--checkpoint needs the name of a folder");
    const auto sync = entry_of(train::gradient_syncs(), options.text("sync"));
    if (world_size > 1 && !sync.keeps_ranks_equal) {
        throw base::OptionError(fmt::format(
            "--sync {} lets the ranks' parameters drift apart, so that no one checkpoint holds them; leave "
            "--checkpoint out, or use another --sync",
            sync.name));
    }
}

// It decides how many steps there are: not with what is a number of them by itself.
void settle_target(const options::Options& options) {
    if (!options.has("target-ci")) return;
    static_cast<void>(measure::parse_target(options.text("target-ci")));
    if (!options.is_set("steps"))
        throw base::OptionError(
            "--target-ci goes on for as many steps as it takes, and epochs are a fixed piece of work; give "
            "the "
            "least as --steps N instead of --epochs");
    for (const char* name : {"checkpoint", "ablation"}) {
        const bool asked = options.has(name) && options.text(name) != "false";
        if (asked)
            throw base::OptionError(fmt::format(
                "--target-ci makes as many steps as it takes, and --{} needs to know how many; leave one out",
                name));
    }
}

void settle_length(options::Options& options) {
    options.prefer_one_of("steps", "epochs");
    if (options.is_set("steps")) {
        const auto steps = options.integer("steps");
        options.resolve_default("warmup", fmt::format("{}", measure::default_warmup(steps)));
        static_cast<void>(measure::schedule_steps(steps, options.integer("warmup"), 1));
    } else {
        options.resolve_default("epochs", "1");
    }
    settle_target(options);
}

}  // namespace

void describe_training(options::Schema& schema) {
    describe_work(schema);
    describe_input(schema);
    describe_ablation(schema);
    schema.section("Learning rate");
    describe_learning_rate(schema);
    describe_speed(schema);
    describe_way(schema);
    describe_checkpoints(schema);
}

TrainingOptions settle_training(options::Options& options, int world_size) {
    settle_model_defaults(options);
    settle_batch(options, world_size);
    settle_evaluation(options, entry_of(nn::models(), options.text("model")).input);
    settle_mode(options, world_size);
    const AblationOptions ablation = settle_ablation(options);
    const SpeedOptions speed = settle_speed(options, world_size);
    settle_length(options);
    settle_optimizer(options);
    settle_overlap(options, world_size);
    settle_checkpoints(options, world_size);
    TrainingOptions o;
    o.input = settle_input(options, input_defaults(options));
    o.ablation = ablation;
    o.checkpoint = options.has("checkpoint") ? options.text("checkpoint") : "";
    o.checkpoint_every = options.has("checkpoint-every") ? options.integer("checkpoint-every") : 0;
    o.resume = options.flag("resume");
    o.model = options.text("model");
    o.data = options.text("data");
    o.save_parameters = options.has("save-parameters") ? options.text("save-parameters") : "";
    o.data_directory = options.has("data-dir") ? options.text("data-dir") : "";
    o.mode = options.text("mode");
    o.sync = options.text("sync");
    o.backend = options.text("backend");
    o.optimizer = options.text("optimizer");
    o.speed = speed;
    o.check_parameters = options.text("check-parameters");
    o.evaluate = options.text("evaluate");
    o.local_batch = options.integer("batch-size");
    o.inject_delay = options.has("inject-delay") ? options.text("inject-delay") : "";
    static_cast<void>(parse_delay(o.inject_delay, world_size));
    o.compression = options.text("compress") == "fp16"   ? train::Compression::fp16
                    : options.text("compress") == "bf16" ? train::Compression::bf16
                                                         : train::Compression::none;
    o.bucket_cap_bytes = static_cast<std::int64_t>(options.real("bucket-cap-mb") * (1 << 20));
    o.accumulate = options.integer("accumulate");
    o.overlap_steps = options.integer("overlap-steps");
    o.broadcast_buffers = !options.flag("no-broadcast-buffers");
    o.replicas = o.mode == "dp" ? options.integer("replicas") : 0;
    o.evaluation_batch = options.integer("eval-batch-size");
    o.steps = options.is_set("steps") ? options.integer("steps") : 0;
    o.most_steps = most_samples(options, o.steps);
    o.convergence = convergence_of(options, o.steps);
    o.epochs = o.steps == 0 ? options.integer("epochs") : 0;
    o.rate = settle_rate(options);
    o.fused_optimizer = options.flag("fused-optimizer");
    o.momentum = options.real("momentum");
    o.sharding = options.text("sharding") == "pad" ? data::Sharding::pad : data::Sharding::exact;
    o.shuffle = options.text("shuffle") == "on";
    o.dropout = options.text("dropout") == "on";
    o.seed = static_cast<std::uint64_t>(options.integer("seed"));
    o.width = options.integer("width");
    o.full_scale = options.text("full-scale") == "on";
    o.lambda_rho = options.real("lambda-rho");
    o.threads = options.has("threads") ? static_cast<int>(options.integer("threads")) : 0;
    o.time_limit = options.has("time-limit") ? options.real("time-limit") : 0;
    return o;
}

}  // namespace ranklab::experiments
