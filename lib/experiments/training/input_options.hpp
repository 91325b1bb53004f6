// The options of `ranklab train` that say what samples are and how they are read, and those of an ablation.
// No torch in here.
#pragma once

#include <cstdint>
#include <string>

#include "data/dataset.hpp"
#include "options/options.hpp"

namespace ranklab::experiments {

/// More of these no machine runs, and none of them is a limit that a user meets: beyond it there is a slip of
/// the keyboard, and bytes or threads that a system would fail at without a sentence.
inline constexpr std::int64_t kMostThreads = 4096;
inline constexpr std::int64_t kMostSamples = 200'000'000;  // torch.randperm's way of drawing ends at 2^32/20
inline constexpr std::int64_t kMostBatch = 1'000'000'000;

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

void describe_input(options::Schema& schema);
/// OptionError for options of the other kind of input, which would be without effect.
InputOptions settle_input(options::Options& options, const InputDefaults& defaults);

struct AblationOptions {
    bool on = false;
    std::int64_t trials = 0;  ///< of each kind
    std::string benchy_json;  ///< "": none
};

void describe_ablation(options::Schema& schema);
/// Before the run's length is settled. OptionError for what does not go with trials.
AblationOptions settle_ablation(options::Options& options);

}  // namespace ranklab::experiments
