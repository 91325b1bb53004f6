// The options of `ranklab train`, typed and settled by the catalogues and the machine, and the run
// that they define.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/phase.hpp"
#include "data/dataset.hpp"
#include "experiments/shared/experiment.hpp"
#include "experiments/training/learning_rate.hpp"
#include "experiments/training/speed_options.hpp"
#include "measure/convergence.hpp"
#include "nn/model.hpp"
#include "nn/outline.hpp"
#include "options/options.hpp"
#include "train/gradient_sync.hpp"
#include "train/input.hpp"
#include "train/optimizer.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

/// real: batches as read. synthetic: the first batch repeatedly. io_only: batches are made, nothing
/// is computed.
enum class Input { real, synthetic, io_only };

struct InputOptions {
    Input kind = Input::real;
    std::int64_t edge = 0;                                   ///< of images or crops
    std::int64_t train_samples = 0, validation_samples = 0;  ///< 0: as many as there are
    int workers = 0;
    int prefetch = 2;
    data::VolumeRequest volume{};
};

/// `--inject-delay RANK:PHASE:MS`: a fault on purpose, to see that the report names it.
struct Delay {
    int rank = 0;
    base::Phase phase = base::Phase::data;
    double ms = 0;
};
/// OptionError for another text; "" is none.
std::optional<Delay> parse_delay(const std::string& text, int world_size);

/// How buckets of gradients are moved.
struct ReductionMode {
    train::Progress progress = train::Progress::none;
    train::Transfer transfer = train::Transfer::background;
};

/// The settled options of a run, with values that follow from several of them or have another type.
/// The data decide --warmup where only --epochs is given; the ranks agree on --mpi-progress later.
struct TrainingOptions {
    vocabulary::TrainingSettings settings;
    vocabulary::CommonSettings common;
    bool has_own_batch = false;  ///< --batch-size was given
    bool is_first_look = false;  ///< neither --steps nor --epochs was given

    nn::Outline outline;    ///< of the model
    std::string structure;  ///< a hash of a user's own network
    SpeedOptions speed;
    train::Compression compression = train::Compression::none;
    ReductionMode way;                 ///< see settle_overlap_way
    std::int64_t most_steps = 0;       ///< --steps, or more with --target-ci
    measure::Convergence convergence;  ///< of --target-ci
    train::LrSettings rate;            ///< rate.total_steps 0: of the run, see settle_lr_total
    InputOptions input;
    std::optional<Delay> delay;

    std::uint64_t seed() const { return static_cast<std::uint64_t>(common.seed); }
    bool broadcasts_buffers() const { return !settings.no_broadcast_buffers; }
    /// --profile names it: "lines" or "layers".
    bool profiles(const std::string& what) const;
    /// As header, dry run and results file show them.
    std::vector<options::Effective> effective() const;
};

void describe_training(options::Schema& schema);

/// Settles the defaults from the model's document and the number of ranks. Throws OptionError for
/// impossible options.
TrainingOptions settle_training(const options::Options& given,
                                const vocabulary::CommonSettings& common, int world_size);

/// The catalogue's, or the user's own from a file.
nn::ModelEntry model_entry(const vocabulary::TrainingSettings& settings);
/// With weights of the options' seed, or of the user's file.
std::shared_ptr<nn::Model> make_model(const TrainingOptions& options);
/// A sample's shape, as the options resize it.
nn::InputShape model_input(const TrainingOptions& options);
/// Its size, without making it.
nn::Outline outline_of(const TrainingOptions& options);
/// Input and target of one sample in fp32.
std::int64_t sample_bytes(const TrainingOptions& options);
/// `count` random samples on the CPU, for a step that is not the run's.
train::TensorBatch sample_batch(const TrainingOptions& options, std::int64_t count);
data::DataRequest data_request(const TrainingOptions& options);

int compute_threads(const TrainingOptions& options);

/// "made for 288 ranks" with what a smaller job needs; "" without --expected-ranks.
std::string made_for_note(const TrainingOptions& options, int world_size);

/// Settles how buckets are moved: as the user says, or else by where the ranks are and whether a
/// core is free of compute threads; equal on all ranks. Collective.
TrainingOptions settle_overlap_way(TrainingOptions options, comm::Communicator& control);

/// The memory of a rank's tensors, found without data and ranks, at the options' local batch: rows
/// for a dry run. Without activations where they are not known.
std::vector<results::Setting> memory_settings(const TrainingOptions& options);
/// Bytes over the batch, as facts for a forecast of other numbers of ranks. None where
/// activations are not known.
void add_memory(results::Run& run, const TrainingOptions& options);

/// OptionError or EnvironmentError where ranks or memory will not do. Collective.
void check_resources(const TrainingOptions& options, const RunContext& around);

/// The plan of a run: what the options settle to, and the run itself.
std::unique_ptr<Plan> plan_training(const options::Options& given,
                                    const vocabulary::CommonSettings& common,
                                    comm::Communicator& control);

/// Collective. The run's settings also have the values that depend on the number of samples: the
/// warm-up of epochs and the length of a cosine.
results::Run make_training_run(TrainingOptions options, const RunContext& around);

/// The catalogue's entry of that name; the name was checked by the schema.
template <class Entry>
Entry entry_of(const std::vector<Entry>& catalogue, const std::string& name) {
    for (const auto& entry : catalogue) {
        if (entry.name == name) return entry;
    }
    throw base::OptionError("unknown name '" + name + "'; --list shows what there is");
}

}  // namespace ranklab::experiments
