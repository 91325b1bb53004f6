#include "experiments/training/input_options.hpp"

namespace ranklab::experiments {

using vocabulary::settle;
using vocabulary::TrainingSettings;

InputOptions settle_input(TrainingSettings& settings, const InputDefaults& defaults) {
    auto& edge = defaults.volumes ? settings.crop_edge : settings.image_size;
    settle(edge, defaults.edge);
    settle(settings.workers, defaults.workers);
    if (settings.input == "io-only") {  // nothing to evaluate, and no communication to overlap
        settings.evaluate = "off";
        settings.overlap_steps = 0;
    }
    return {.kind = settings.input == "real"        ? Input::real
                    : settings.input == "synthetic" ? Input::synthetic
                                                    : Input::io_only,
            .edge = *edge,
            .train_samples = settings.train_samples.value_or(0),
            .validation_samples = settings.validation_samples.value_or(0),
            .workers = static_cast<int>(*settings.workers),
            .prefetch = static_cast<int>(settings.prefetch),
            .volume = {.in_memory = settings.volume_access == "inmem",
                       .rotate = settings.rotate == "on",
                       .rotate_vectors = settings.rotate_vectors}};
}

AblationOptions settle_ablation(TrainingSettings& settings, vocabulary::CommonSettings& common) {
    if (!settings.ablation) return {};
    settle(settings.steps, 20);
    settle(common.warmup, 0);
    settle(settings.repetitions, 3);
    return {.on = true, .trials = *settings.repetitions, .benchy_json = settings.benchy_json.value_or("")};
}

}  // namespace ranklab::experiments
