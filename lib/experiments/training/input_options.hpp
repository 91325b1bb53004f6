// The options of `ranklab train` that say what samples are and how they are read, and those of an ablation.
// No torch in here.
#pragma once

#include <cstdint>
#include <string>

#include "data/dataset.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::experiments {

/// real: as read. synthetic: the first batch, again and again. io_only: batches are made, nothing is
/// computed.
enum class Input { real, synthetic, io_only };

struct InputOptions {
    Input kind = Input::real;
    std::int64_t edge = 0;                                   ///< of images or crops
    std::int64_t train_samples = 0, validation_samples = 0;  ///< 0: as many as there are
    int workers = 0;
    int prefetch = 2;
    data::VolumeRequest volume{};
};

/// What the model takes.
struct InputDefaults {
    bool volumes = false;
    std::int64_t edge = 1;
    std::int64_t workers = 0;
};

InputOptions settle_input(vocabulary::TrainingSettings& settings, const InputDefaults& defaults);

struct AblationOptions {
    bool on = false;
    std::int64_t trials = 0;  ///< of each kind
    std::string benchy_json;  ///< "": none
};

/// Before the run's length is settled.
AblationOptions settle_ablation(vocabulary::TrainingSettings& settings, vocabulary::CommonSettings& common);

}  // namespace ranklab::experiments
