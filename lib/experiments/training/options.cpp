#include "experiments/training/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "comm/backend.hpp"
#include "data/dataset.hpp"
#include "experiments/shared/target_ci.hpp"
#include "experiments/training/delayed_phases.hpp"
#include "experiments/training/model_of.hpp"
#include "measure/schedule.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

template <class Entry>
std::vector<std::string> names_of(const std::vector<Entry>& catalogue) {
    std::vector<std::string> names;
    for (const auto& entry : catalogue) names.push_back(entry.name);
    return names;
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
        throw base::OptionError(fmt::format(
            "LibTorch has no fused kernel for --optimizer {}; leave --fused-optimizer out", optimizer.name));
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

void settle_mode(options::Options& options, int world_size) {
    // Who asks for the buckets means those of a run of several ranks, wherever the dry run is made.
    options.resolve_default("mode", world_size == 1 && !options.has("buckets") ? "single" : "ddp");
    const std::string mode = options.text("mode");
    const bool one_rank = mode != "ddp";
    if (one_rank && world_size > 1) {
        throw base::OptionError(
            fmt::format("--mode {} takes one rank, but {} were started; use --mode ddp, or start one rank",
                        mode, world_size));
    }
    options.resolve_default("sync", one_rank ? "none" : "bucketed");
    const auto sync = entry_of(train::gradient_syncs(), options.text("sync"));
    if (options.text("compress") != "none" && !sync.compresses) {
        throw base::OptionError(
            fmt::format("--sync {} sends gradients as they are; --compress {} is for --sync bucketed",
                        options.text("sync"), options.text("compress")));
    }
    if (one_rank && options.text("sync") != "none") {
        throw base::OptionError(fmt::format(
            "--mode {} has nothing to synchronise, so it takes no --sync {}; use --mode ddp (it runs at "
            "one rank too) or leave --sync out",
            mode, options.text("sync")));
    }
    if (options.is_set("backend") && options.text("backend") == "self" && world_size > 1) {
        throw base::OptionError("--backend self serves one rank; use --backend mpi");
    }
}

void settle_overlap(options::Options& options, int world_size) {
    const bool measurable =
        world_size > 1 && entry_of(train::gradient_syncs(), options.text("sync")).keeps_ranks_equal;
    if (!measurable && options.is_set("overlap-steps") && options.integer("overlap-steps") > 0)
        throw base::OptionError("--overlap-steps compares with and without communication; this run has none");
    const std::int64_t steps = options.integer_or("steps", 200);
    options.resolve_default(
        "overlap-steps",
        fmt::format("{}", measurable && steps >= 20 ? std::clamp<std::int64_t>(steps / 10, 6, 20) : 0));
}

void settle_checkpoints(const options::Options& options, int world_size) {
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

// For a first look: seconds of the small networks on any machine. Enough for a median with an interval.
constexpr std::int64_t kStepsAtFirst = 100;

void settle_length(options::Options& options) {
    if (!options.has("steps") && !options.has("epochs"))
        options.resolve("steps", fmt::format("{}", kStepsAtFirst));
    if (options.has("steps")) {
        const auto steps = options.integer("steps");
        if (!options.has("warmup"))
            options.resolve("warmup", fmt::format("{}", measure::default_warmup(steps)));
        static_cast<void>(measure::schedule_steps(steps, options.integer("warmup"), 1));
    }
    if (options.has("target-ci")) static_cast<void>(measure::parse_target(options.text("target-ci")));
}

train::Compression compression_of(const options::Options& options) {
    return options.is("compress", "fp16")   ? train::Compression::fp16
           : options.is("compress", "bf16") ? train::Compression::bf16
                                            : train::Compression::none;
}

}  // namespace

void describe_training(options::Schema& schema) {
    schema.append(vocabulary::training_settings())
        .offer("model", names_of(nn::models()))
        .offer("data", names_of(data::sources()))
        .offer("optimizer", names_of(train::optimizers()))
        .offer("sync", names_of(train::gradient_syncs()))
        .offer("backend", names_of(comm::backends()))
        .offer("lr-schedule", train::lr_shape_names())
        .offer("lr-scaling", train::lr_scaling_names());
}

TrainingOptions settle_training(options::Options& options, int world_size) {
    options.drop_overruled();
    settle_model_defaults(options);
    settle_batch(options, world_size);
    settle_evaluation(options, entry_of(nn::models(), options.text("model")).input);
    settle_mode(options, world_size);
    const auto ablation = settle_ablation(options);
    const auto speed = settle_speed(options, world_size);
    settle_length(options);
    settle_optimizer(options);
    settle_overlap(options, world_size);
    const auto input = settle_input(options, input_defaults(options));
    const auto rate = settle_rate(options);
    options.check_relations();
    settle_checkpoints(options, world_size);
    static_cast<void>(parse_delay(options.text_or("inject-delay", ""), world_size));
    TrainingOptions settled(options);
    const auto steps = options.integer_or("steps", 0);
    settled.compression = compression_of(options);
    settled.most_steps = most_samples(options, steps);
    settled.convergence = convergence_of(options, steps);
    settled.input = input;
    settled.ablation = ablation;
    settled.speed = speed;
    settled.rate = rate;
    settled.outline = outline_of(settled);
    const bool by_onednn = !speed.cuda && speed.precision != train::Precision::fp64;
    settled.format = settle_format(options, {.convolves = settled.outline.convolves,
                                             .computes = settled.input.kind != Input::io_only,
                                             .cuda_graph = speed.cuda_graph,
                                             .breaks = settled.outline.breaks_channels_last && by_onednn});
    settled.speed.channels_last = settled.format.channels_last;
    return settled;
}

}  // namespace ranklab::experiments
