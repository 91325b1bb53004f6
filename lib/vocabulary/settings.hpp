// The options of the programs: one row per option. Parsing, storing and comparing read the same
// rows, so that a new option is one row here and the code that uses its field.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "options/schema.hpp"

namespace ranklab::vocabulary {

/// Seconds to wait for a results file's lock.
inline constexpr double kLockTimeout = 300;

/// The options that all programs have, for the rows of common_settings(). A member's initial value
/// is the option's default; a member without one is set by the experiment.
struct CommonSettings {
    std::optional<std::string> config;
    std::string output = "results/ranklab.h5";  ///< "none": nothing is stored
    std::string label;
    std::optional<std::string> inputs_hash;
    std::optional<std::string> json_file;
    std::optional<std::int64_t> warmup;
    std::int64_t seed = 1;
    std::optional<int> threads;
    std::optional<double> time_limit;  ///< seconds
    std::optional<double> monitor;     ///< seconds between samples
    std::optional<int> expect_ranks;
    double lock_timeout = kLockTimeout;  ///< seconds
    double stall_timeout = 600;          ///< seconds; 0: never
    bool dry_run = false, force = false, quiet = false, verbose = false, json = false, list = false;
};

/// The options of `ranklab io`, for the rows of storage_settings(). Choices are texts.
struct StorageSettings {
    std::string strategy = "all";
    std::int64_t files = 15, size = 100;
    int workers = 1;
    bool async = false;
    std::string directory = "output";
    bool check_write = false, check_read = false, reorder = false, no_verify = false, cold = false;
    int reads = 1;
    bool write_only = false, read_only = false, keep = false;
    std::int64_t repetitions = 1;
    std::optional<std::string> target_ci;
    bool fsync = false;
    std::string ceilings = "auto", layout = "files";
    std::int64_t chunk = 0;
    std::uint64_t alignment = 64;  ///< a cache line: unaligned, the kernel copies a fifth slower
    std::string hints, allocation = "early";
    bool fill = false;
    std::string collective_metadata = "on";
    bool latest_format = false;
    std::optional<std::string> trace, profile;
};

/// The options of `ranklab train`, for the rows of training_settings().
struct TrainingSettings {
    std::string model = "mnist-cnn";
    std::string model_file;  ///< not an option: FILE.pt of --model; `model` is its stem
    std::optional<std::string> input_shape, target_shape, loss;
    std::optional<std::int64_t> classes;
    std::optional<std::string> data, data_dir, inputs, targets;
    std::int64_t width = 1;
    std::string full_scale = "on";
    double lambda_rho = 0;
    std::optional<std::int64_t> batch_size, global_batch_size, expected_ranks, epochs, steps;
    std::optional<std::string> optimizer;
    bool fused_optimizer = false;
    std::optional<double> momentum, clip_gradients, flops_per_token, peak_tflops;
    std::optional<std::string> ops;
    std::string dropout = "on", shuffle = "on", sharding = "pad";
    std::optional<std::int64_t> train_samples, validation_samples;
    std::string input = "real";
    std::optional<std::string> profile, tensorboard, trace, trace_window;
    bool nvtx = false, log_lines = false;
    std::int64_t loader_cost_us = 0;
    std::optional<std::int64_t> workers;
    std::int64_t prefetch = 2;
    std::optional<std::int64_t> image_size, sequence_length;
    std::string volume_access = "lowmem";
    std::optional<std::int64_t> crop_edge;
    std::string rotate = "on";
    bool rotate_vectors = false, ablation = false;
    std::optional<std::int64_t> repetitions;
    std::optional<double> lr;
    std::optional<std::string> lr_schedule;
    std::optional<double> gamma;
    std::optional<std::string> lr_scaling;
    std::optional<std::int64_t> base_batch_size, lr_warmup_steps;
    double end_lr = 0;
    std::optional<std::int64_t> lr_total_steps;
    std::string precision = "fp32", device = "auto", memory_format = "auto";
    std::string channels_last = "false";
    bool jit = false, cuda_graph = false;
    std::string cudnn_benchmark = "on";
    std::optional<std::string> mode;
    std::optional<std::int64_t> replicas;
    std::optional<std::string> sync, backend;
    double bucket_cap_mb = 25;
    std::optional<std::string> buckets, progress, transfer;
    std::string compress = "none";
    std::int64_t accumulate = 1, zero = 0, prefetch_blocks = 1;
    bool no_broadcast_buffers = false;
    std::optional<std::int64_t> overlap_steps;
    std::optional<std::string> inject_delay;
    std::optional<std::string> evaluate;
    std::optional<std::int64_t> eval_batch_size;
    std::optional<double> target_loss;
    std::string check_parameters = "end";
    std::optional<std::string> save_parameters, checkpoint;
    std::optional<std::int64_t> checkpoint_every;
    bool resume = false;
    std::optional<std::string> target_ci;
};

/// A value of --mode, and what it can do.
struct Mode {
    std::string_view name;
    bool several_ranks = false;  ///< all ranks compute; otherwise the job must have one rank
    bool has_replicas = false;   ///< in threads of the rank
};
inline constexpr std::array<Mode, 3> kModes{
    {{"single"}, {.name = "dp", .has_replicas = true}, {.name = "ddp", .several_ranks = true}}};
/// Returns a Mode without abilities if --mode is not settled yet.
inline Mode mode_of(const TrainingSettings& settings) {
    const auto* const found = std::ranges::find(kModes, settings.mode.value_or(""), &Mode::name);
    return found == kModes.end() ? Mode() : *found;
}

/// The options of `ranklab comm`, for the rows of collectives_settings().
struct CollectivesSettings {
    std::string op = "allreduce", datatype = "fp32", redop = "sum";
    std::int64_t root = 0;
    std::string place = "both";
    std::optional<std::string> backend, memory;
    std::uint64_t unalign = 0;
    std::string scope = "auto";
    std::uint64_t min_bytes = 8, max_bytes = 4U << 20U;
    double step_factor = 2;
    std::optional<std::uint64_t> step_bytes;
    std::optional<std::string> sizes, from_model;
    std::int64_t repetitions = 50, check = 1;
    std::optional<std::int64_t> rounds;
    std::string average = "3", blocking = "3";
    bool nonblocking = false;
    std::string progress = "none";
    std::optional<std::string> fault;
    bool per_iter = false;
};

/// The options of `ranklab train`, `io` and `comm`, and the options that all three share.
/// Experiments add the names of their catalogues by Schema::offer.
const options::Schema& training_settings();
const options::Schema& storage_settings();
const options::Schema& collectives_settings();
const options::Schema& common_settings();

/// Sets a value that the user left open.
template <class Value, class Default>
void settle(std::optional<Value>& value, Default fallback) {
    if (!value) value = static_cast<Value>(fallback);
}

/// Names of launchers' options for the number of ranks, each with the advice to use a launcher.
options::Schema launch_names();

/// Help of --target-ci; `least` names the option for the least number of samples ("--steps").
std::string target_help(const std::string& least);

/// No machine runs more threads: a larger number is a typing error.
inline constexpr std::int64_t kMostThreads = 4096;

/// Returns nullptr for an unknown name, which another version may have stored.
const options::Option* find_setting(std::string_view name);
/// The row; for an unknown name a default Option.
const options::Option& setting_row(std::string_view name);

/// Returns the run's value of a setting; "" if it has none.
using OtherSettings = std::function<std::string(const std::string&)>;

/// The purpose for which a setting may matter. A setting without a row matters for every purpose, a
/// setting whose value equals value_when_absent() for none.
enum class SettingUse {
    comparison,  ///< runs are compared only if they agree in the setting
    group,       ///< the setting distinguishes groups (the length of measuring does not)
    factor,      ///< runs that differ only here are not repetitions
    sample_work  ///< the setting changes what a rank computes on one sample
};
bool matters_to(SettingUse use, std::string_view setting, std::string_view value = {});

/// The value to assume for a run of an older version, which lacks the setting; `run` returns its
/// other settings. "" if every version has the setting.
std::string_view value_when_absent(std::string_view setting, const OtherSettings& run = {});

}  // namespace ranklab::vocabulary
