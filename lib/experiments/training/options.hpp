// The options of `ranklab train`, typed and settled.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "data/sampler.hpp"
#include "experiments/training/input_options.hpp"
#include "experiments/training/learning_rate.hpp"
#include "experiments/training/speed_options.hpp"
#include "measure/convergence.hpp"
#include "nn/model.hpp"
#include "options/options.hpp"
#include "train/gradient_sync.hpp"
#include "train/optimizer.hpp"

namespace ranklab::experiments {

/// How buckets of gradients are moved.
struct OverlapWay {
    train::Progress progress = train::Progress::none;
    train::Transfer transfer = train::Transfer::background;
};

struct TrainingOptions {
    std::string model, data, data_directory, mode, sync, backend, optimizer, check_parameters, evaluate,
        save_parameters, checkpoint;
    SpeedOptions speed;
    std::string inject_delay;
    train::Compression compression = train::Compression::none;
    std::int64_t bucket_cap_bytes = 0;
    OverlapWay way;               ///< see settle_overlap_way
    std::int64_t accumulate = 1;  ///< micro-batches a step
    std::int64_t overlap_steps = 0;
    bool broadcast_buffers = true;
    std::int64_t local_batch = 0;
    std::int64_t replicas = 0;  ///< mode dp; else 0
    std::int64_t evaluation_batch = 1000;
    std::int64_t steps = 0;            ///< 0: whole epochs
    std::int64_t most_steps = 0;       ///< steps, or more with --target-ci
    measure::Convergence convergence;  ///< of --target-ci
    std::int64_t epochs = 0;           ///< 0: steps
    train::LrSettings rate;            ///< rate.total_steps 0: of the run, see settle_lr_total
    double momentum = 0;
    bool fused_optimizer = false;
    data::Sharding sharding = data::Sharding::pad;
    bool shuffle = true;
    bool dropout = true;
    std::uint64_t seed = 1;
    std::int64_t width = 1;  ///< divisor of the model's channels
    bool full_scale = true;
    double lambda_rho = 0;
    InputOptions input;
    AblationOptions ablation;
    int threads = 0;        ///< 0: the cores of the cpuset
    double time_limit = 0;  ///< seconds; 0: none
    bool resume = false;
    std::int64_t checkpoint_every = 0;  ///< steps; 0: at each epoch's end
};

void describe_training(options::Schema& schema);

/// Settles defaults (of the model's document, of the number of ranks) into `options`; OptionError for what
/// cannot be.
TrainingOptions settle_training(options::Options& options, int world_size);

/// The catalogue's entry of that name; the name was checked by the schema.
template <class Entry>
Entry entry_of(const std::vector<Entry>& catalogue, const std::string& name) {
    for (const auto& entry : catalogue) {
        if (entry.name == name) return entry;
    }
    throw base::OptionError("unknown name '" + name + "'; --list shows what there is");
}

}  // namespace ranklab::experiments
