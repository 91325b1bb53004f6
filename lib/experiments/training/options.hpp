// The settled options of `ranklab train` and the run that they define.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/named.hpp"
#include "base/phase.hpp"
#include "data/dataset.hpp"
#include "data/loader.hpp"
#include "device/gpus.hpp"
#include "experiments/shared/experiment.hpp"
#include "nn/model.hpp"
#include "nn/outline.hpp"
#include "nn/own_network.hpp"
#include "options/options.hpp"
#include "train/gradient_sync.hpp"
#include "train/input.hpp"
#include "train/lr_schedule.hpp"
#include "train/optimizer.hpp"
#include "train/precision.hpp"
#include "train/sharded_sync.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

/// real: batches as read. synthetic: the first batch, repeated. io_only: batches are made, nothing
/// is computed.
enum class Input { real, synthetic, io_only };

/// `--inject-delay RANK:PHASE:MS`: an injected fault, for testing that the report names it.
struct Delay {
    int rank = 0;
    base::Phase phase = base::Phase::data;
    double ms = 0;
};
/// Throws OptionError for other texts; returns nullopt for "".
std::optional<Delay> parse_delay(const std::string& text, int world_size);

/// `--trace-window FIRST:COUNT`: steps, counted from 1.
struct StepWindow {
    std::int64_t first = 1, count = 0;
};

/// The settled options of a run, and values that follow from several of them or have another type.
/// If only --epochs is given, --warmup is settled once the number of samples is known.
struct TrainingOptions {
    vocabulary::TrainingSettings settings;
    vocabulary::CommonSettings common;
    bool has_own_batch = false;     ///< --batch-size was given
    bool has_global_batch = false;  ///< --global-batch-size was given
    bool is_first_look = false;     ///< --steps, --epochs and --ablation were not given

    nn::Outline outline;    ///< of the model
    std::string structure;  ///< a hash of a user's own network
    nn::OwnTraits own;      ///< of a user's own network
    train::Compression compression = train::Compression::none;
    /// Fixed bytes of a rank and bytes per sample, set by needed_memory(); nullopt: not known.
    std::optional<std::pair<std::int64_t, std::int64_t>> memory;
    train::LrSettings rate;  ///< total_steps 0: open until settle_lr_total
    Input input = Input::real;
    std::optional<Delay> delay;
    std::optional<StepWindow> trace_window;

    std::uint64_t seed() const { return common.seed; }
    bool on_gpu() const { return settings.device == "cuda"; }
    train::Precision precision() const {
        return base::named<train::Precision>(train::kPrecisions, settings.precision).value();
    }
    torch::Dtype parameter_type() const { return train::parameter_type(precision()); }
    nn::Ops ops() const {
        return settings.ops == "libtorch" ? nn::Ops::libtorch : nn::Ops::ranklab;
    }
    std::int64_t bucket_cap() const {
        return static_cast<std::int64_t>(settings.bucket_cap_mb * (1 << 20));
    }
    train::ZeroConfig zero() const {
        return {static_cast<int>(settings.zero), settings.prefetch_blocks,
                on_gpu()                          ? 0
                : settings.transfer == "blocking" ? 1
                                                  : 2};
    }
    /// Whether --profile lists `what`: "lines" or "layers".
    bool profiles(const std::string& what) const;
    /// The options as header, dry run and results file show them.
    std::vector<options::Effective> effective() const;
};

/// Returns the options of the command, which offer the names of the catalogues.
options::Schema training_schema();

/// Settles the defaults from the model's published settings and the number of ranks. Throws
/// OptionError for impossible options.
TrainingOptions settle_training(const options::Options& given,
                                const vocabulary::CommonSettings& common, int world_size);

/// Returns the catalogue's entry, or one for the user's file.
nn::ModelEntry model_entry(const vocabulary::TrainingSettings& settings);
/// Returns the option for the edge of the model's images or crops, or the length of its sequences.
std::optional<std::int64_t>& size_setting(vocabulary::TrainingSettings& settings);
/// Makes the model with weights of --seed, or of the user's file.
std::shared_ptr<nn::Model> make_model(const TrainingOptions& options);
/// Returns the shape of a sample after --image-size, --crop-edge or --sequence-length.
nn::InputShape model_input(const TrainingOptions& options);
/// Returns the model's parameters and FLOPs, found without making its weights.
nn::Outline outline_of(const TrainingOptions& options);
/// Makes `count` random samples on the CPU.
train::TensorBatch sample_batch(const TrainingOptions& options, std::int64_t count);
data::DataRequest data_request(const TrainingOptions& options);
data::Loader::Config loader_config(const TrainingOptions& options, std::int64_t batch);

int compute_threads(const TrainingOptions& options);

/// "made for 288 ranks", with the options that a smaller job needs; "" without --expected-ranks.
std::string made_for_note(const TrainingOptions& options, int world_size);

/// Values of optimizer state per parameter value.
std::int64_t optimizer_states(const TrainingOptions& options);

/// Settles --transfer and --mpi-progress, if not given, by whether all ranks are on one host and
/// each has a core without compute threads. Equal on all ranks. Collective.
TrainingOptions settle_overlap_way(TrainingOptions options, comm::Communicator& control);

/// Returns rows of a dry run: the memory of a rank's tensors at its batch, without activations if
/// these are not known. --zero shards the tensors over --expected-ranks ranks.
std::vector<results::Setting> memory_settings(const TrainingOptions& options, int local_ranks);
/// The least host memory of a rank, in bytes: the tensors of a step, temporary tensors of
/// backward, and prefetched batches at one byte per element. Stores the bytes of the tensors in
/// `options`.
double needed_memory(TrainingOptions& options);
/// Adds the memory of a rank as facts for forecasts: fixed bytes and bytes per sample. Adds nothing
/// if activations are not known.
void add_memory(results::Run& run, const TrainingOptions& options);

/// For a dry run with --buckets, on rank 0. Computes one backward of two random samples on the CPU,
/// by which the strategy finds its buckets, and writes the buckets to the file. Throws OptionError
/// or EnvironmentError before computing if the file cannot be written.
void write_bucket_file(const TrainingOptions& options);

/// Returns the learning rate (docs/learning_rate.md) of settled options. Settles --lr-total-steps
/// of a cosine if --steps is given: the rate then falls over warm-up and steps.
train::LrSettings settle_learning_rate(vocabulary::TrainingSettings& settings,
                                       const vocabulary::CommonSettings& common);

/// Settles the length of a cosine if neither --lr-total-steps nor --steps gives it: the steps of
/// the run (`run_steps`), or for cosine_published epochs x floor(samples / global batch).
void settle_lr_total(vocabulary::TrainingSettings& all, train::LrSettings& settings,
                     std::int64_t samples, std::int64_t run_steps);

/// Returns the learning rate as the run's header shows it.
std::string lr_text(const train::LrSettings& settings);

/// Throws OptionError if a rate of the run is not finite or too large for fp32.
void check_rates(const train::LrSettings& settings, std::int64_t last_step,
                 std::int64_t last_epoch);

/// Returns a warning if the run ends before --lr-warmup-steps, or "".
std::string lr_warning(const train::LrSettings& settings, std::int64_t run_steps);

/// Returns the number of GPUs that this process sees and LibTorch can use.
using CountGpus = std::function<std::int64_t()>;
std::int64_t usable_gpus();

/// Settles --device, --replicas, --ops and --backend; --mode and --sync must be settled. Throws
/// OptionError if they conflict.
void settle_speed(vocabulary::TrainingSettings& settings, int world_size,
                  const CountGpus& count_gpus = usable_gpus);

/// Settles the memory format. Without an option it is channels-last if the model prefers it
/// (`by_default`), LibTorch supports it, and the device is a CPU or the precision has 16 bits
/// (tensor cores). Throws OptionError if channels-last is given and LibTorch fails with it.
void settle_channels_last(vocabulary::TrainingSettings& settings, const nn::Outline& outline,
                          bool by_default);

/// Collective. With --device cuda selects this rank's GPU, loads LibTorch's CUDA part, and makes
/// this thread compute on a stream of its own; throws EnvironmentError on all ranks if a rank, or a
/// replica of mode dp, has no GPU. With --device cpu all ranks compute on the CPU.
class ComputeDevice {
  public:
    ComputeDevice(const vocabulary::TrainingSettings& settings, comm::Communicator& control);

    torch::Device get() const { return device_; }

  private:
    torch::Device device_;
    std::optional<device::ComputeStream> stream_;
};

/// Prepares `model`, which is fp32 on the CPU: changes its type, device and memory format, and
/// wraps it for --jit or autocast.
std::shared_ptr<nn::Model> prepared(std::shared_ptr<nn::Model> model,
                                    const vocabulary::TrainingSettings& settings,
                                    torch::Device device);

/// Returns why a rank that sees `seen` GPUs cannot compute on `wanted`, or "". `why_none`: why it
/// sees none.
std::string too_few_gpus(std::int64_t wanted, std::int64_t seen, const std::string& why_none);

/// Throws OptionError if there are too few ranks. Collective.
void check_resources(const TrainingOptions& options, const RunContext& around);
/// Throws OptionError if a given batch is larger than the data set, and the errors of need_memory.
/// Collective.
void check_data(TrainingOptions& options, std::int64_t samples, comm::Communicator& control);

/// Collective. The run's settings also have the values that depend on the number of samples:
/// --warmup with --epochs, and the length of a cosine.
results::Run make_training_run(TrainingOptions options, const RunContext& around);

}  // namespace ranklab::experiments
