// The options of `ranklab train` that say what samples are and how they are read, and those of an ablation.
// No torch in here.
#pragma once

#include <cstdint>
#include <string>

#include "data/dataset.hpp"
#include "options/options.hpp"

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

/// OptionError for options of the other kind of input, which would be without effect.
InputOptions settle_input(options::Options& options, const InputDefaults& defaults);

struct AblationOptions {
    bool on = false;
    std::int64_t trials = 0;  ///< of each kind
    std::string benchy_json;  ///< "": none
};

/// Before the run's length is settled. OptionError for what does not go with trials.
AblationOptions settle_ablation(options::Options& options);

}  // namespace ranklab::experiments
