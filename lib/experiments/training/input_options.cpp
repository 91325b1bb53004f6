#include "experiments/training/input_options.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace ranklab::experiments {
namespace {

void refuse_others(const options::Options& options, bool volumes) {
    if (volumes) {
        if (options.is_set("image-size"))
            throw base::OptionError(
                "--image-size is for models that take images; use --crop-edge for volumes");
        return;
    }
    for (const char* name :
         {"volume-access", "crop-edge", "rotate", "rotate-vectors", "full-scale", "lambda-rho"}) {
        if (options.is_set(name))
            throw base::OptionError(
                fmt::format("--{} is for models that take volumes, such as unet3d", name));
    }
}

}  // namespace

InputOptions settle_input(options::Options& options, const InputDefaults& defaults) {
    refuse_others(options, defaults.volumes);
    const char* const edge = defaults.volumes ? "crop-edge" : "image-size";
    options.resolve_default(edge, fmt::format("{}", defaults.edge));
    options.resolve_default("workers", fmt::format("{}", defaults.workers));
    if (options.text("input") == "io-only") {  // nothing to evaluate, and no communication to overlap
        options.resolve("evaluate", "off");
        options.resolve("overlap-steps", "0");
    }
    return {.kind = options.text("input") == "real"        ? Input::real
                    : options.text("input") == "synthetic" ? Input::synthetic
                                                           : Input::io_only,
            .edge = options.integer(edge),
            .train_samples = options.integer_or("train-samples", 0),
            .validation_samples = options.integer_or("validation-samples", 0),
            .workers = static_cast<int>(options.integer("workers")),
            .prefetch = static_cast<int>(options.integer("prefetch")),
            .volume = {.in_memory = options.text("volume-access") == "inmem",
                       .rotate = options.text("rotate") == "on",
                       .rotate_vectors = options.flag("rotate-vectors")}};
}

AblationOptions settle_ablation(options::Options& options) {
    if (!options.flag("ablation")) return {};
    options.resolve_default("steps", "20");
    options.resolve_default("warmup", "0");
    options.resolve_default("repetitions", "3");
    return {.on = true,
            .trials = options.integer("repetitions"),
            .benchy_json = options.text_or("benchy-json", "")};
}

}  // namespace ranklab::experiments
