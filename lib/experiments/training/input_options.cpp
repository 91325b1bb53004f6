#include "experiments/training/input_options.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace ranklab::experiments {
namespace {

void refuse_others(const options::Options& options, bool volumes) {
    if (volumes) {
        if (options.is_set("image-size"))
            throw base::OptionError("--image-size is of models that take images; volumes have --crop-edge");
        return;
    }
    for (const char* name :
         {"volume-access", "crop-edge", "rotate", "rotate-vectors", "full-scale", "lambda-rho"}) {
        if (options.is_set(name))
            throw base::OptionError(fmt::format("--{} is of models that take volumes, such as unet3d", name));
    }
}

// There is nothing to evaluate, and no communication to overlap.
void settle_io_only(options::Options& options) {
    if (options.has("checkpoint"))
        throw base::OptionError(
            "--input io-only trains nothing that a checkpoint could hold; leave --checkpoint out");
    options.resolve("evaluate", "off");
    options.resolve("overlap-steps", "0");
}

}  // namespace

void describe_input(options::Schema& schema) {
    schema.section("How samples are read")
        .integer("train-samples", {1, kMostSamples}, std::nullopt,
                 "samples of an epoch (default: all there are; for volumes, as many crops as fill them 16 "
                 "times)")
        .integer("validation-samples", {1, kMostSamples}, std::nullopt,
                 "samples of an evaluation (default: likewise)")
        .choice("input", {"real", "synthetic", "io-only"}, "real",
                "synthetic: the first batch, again and again; io-only: batches are made, nothing is computed")
        .integer("workers", {0, kMostThreads}, std::nullopt,
                 "threads that read, decode and augment ahead; 0: the training thread does (default: the "
                 "model's document's)")
        .integer("prefetch", {1, 65536}, "2", "batches made ahead, at most")
        .integer("image-size", {1, 16384}, std::nullopt,
                 "height and width that images are resized to (default: the model's, 224 for resnets)")
        .choice("volume-access", {"lowmem", "inmem"}, "lowmem",
                "lowmem: crops from the disk; inmem: the whole file in memory")
        .integer("crop-edge", {1, 2048}, std::nullopt,
                 "edge of the crops of volumes (default: the model's, 64)")
        .choice("rotate", {"on", "off"}, "on", "turn each crop by one of the cube's 24 rotations")
        .flag("rotate-vectors", "turn the velocities' components with it (the original does not)");
}

InputOptions settle_input(options::Options& options, const InputDefaults& defaults) {
    refuse_others(options, defaults.volumes);
    const char* const edge = defaults.volumes ? "crop-edge" : "image-size";
    options.resolve_default(edge, fmt::format("{}", defaults.edge));
    options.resolve_default("workers", fmt::format("{}", defaults.workers));
    if (options.text("input") == "io-only") settle_io_only(options);
    return {
        .kind = options.text("input") == "real"        ? Input::real
                : options.text("input") == "synthetic" ? Input::synthetic
                                                       : Input::io_only,
        .edge = options.integer(edge),
        .train_samples = options.has("train-samples") ? options.integer("train-samples") : 0,
        .validation_samples = options.has("validation-samples") ? options.integer("validation-samples") : 0,
        .workers = static_cast<int>(options.integer("workers")),
        .prefetch = static_cast<int>(options.integer("prefetch")),
        .volume = {.in_memory = options.text("volume-access") == "inmem",
                   .rotate = options.text("rotate") == "on",
                   .rotate_vectors = options.flag("rotate-vectors")}};
}

void describe_ablation(options::Schema& schema) {
    schema.section("What limits it")
        .flag("ablation",
              "instead of a run: trials of --steps steps (20) each of input alone, without input, without "
              "communication, without either, and of all of it, in turns")
        .integer("repetitions", {1, 10000}, std::nullopt,
                 "this many trainings, each from the same start and a run of its own, in turns (--order); of "
                 "--ablation: trials of each kind (default: 3)")
        .text("benchy-json", "FILE", std::nullopt, "of --ablation: the trials as benchy's JSON");
}

AblationOptions settle_ablation(options::Options& options) {
    if (!options.flag("ablation")) {
        if (options.is_set("benchy-json"))
            throw base::OptionError("--benchy-json is of --ablation; say that too");
        return {};
    }
    for (const char* name : {"epochs", "checkpoint", "save-parameters", "time-limit"}) {
        if (options.is_set(name))
            throw base::OptionError(fmt::format("--ablation makes trials of --steps; leave --{} out", name));
    }
    if (options.text("input") != "real")
        throw base::OptionError("--ablation makes trials of every kind of input; leave --input out");
    options.resolve_default("steps", "20");
    options.resolve_default("warmup", "0");
    options.resolve_default("repetitions", "3");
    return {.on = true,
            .trials = options.integer("repetitions"),
            .benchy_json = options.has("benchy-json") ? options.text("benchy-json") : ""};
}

}  // namespace ranklab::experiments
