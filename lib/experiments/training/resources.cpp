#include <fmt/format.h>
#include <torch/utils.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "comm/mpi_environment.hpp"
#include "experiments/training/options.hpp"
#include "host/process.hpp"
#include "host/topology.hpp"
#include "nn/own_network.hpp"

namespace ranklab::experiments {
namespace {

// True if there are fewer ranks than the configuration is made for, and no option sets the batch
// per rank.
bool is_short_of_ranks(const TrainingOptions& options, int world_size) {
    const auto& settings = options.settings;
    return settings.expected_ranks && world_size < *settings.expected_ranks &&
           !options.has_own_batch && settings.accumulate <= 1;
}

// Returns the number of cores of this rank, at most what its cgroup allows in CPU time.
int own_cores(const comm::Communicator& control) {
    const int cores = host::cores_in(host::cpuset());
    const int ranks = std::max(1, control.local_size());
    std::vector<int> all(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
    std::iota(all.begin(), all.end(), 0);
    const bool bound = cores * ranks <= host::cores_in(all);
    const double allowed = host::least_limit(host::cpu_quota()).value_or(cores * ranks) / ranks;
    return std::min(bound ? cores : cores / ranks, static_cast<int>(allowed));
}

}  // namespace

int compute_threads(const TrainingOptions& options) {
    return options.common.threads.has_value() ? static_cast<int>(*options.common.threads)
                                              : std::max(1, host::cores_in(host::cpuset()));
}

std::string made_for_note(const TrainingOptions& options, int world_size) {
    if (!options.settings.expected_ranks) return "";
    const std::string note = fmt::format("made for {} ranks", *options.settings.expected_ranks);
    if (!is_short_of_ranks(options, world_size)) return note;
    // Micro-batches about as large as planned: the smallest divisor of the batch from `planned` on.
    const std::int64_t local = *options.settings.batch_size;
    const std::int64_t planned = (*options.settings.expected_ranks + world_size - 1) / world_size;
    std::int64_t parts = std::min(local, planned);
    while (local % parts != 0) ++parts;
    return fmt::format(
        "{}; on {} give --accumulate {} for the same global batch, or --batch-size N for a "
        "smaller one",
        note, world_size, parts);
}

// docs/overlap.md has the measurements. Between hosts a progress thread that sleeps between polls
// hides non-blocking allreduces behind backward. Within one host the cores move the data: blocking
// allreduces take a third of the time of non-blocking ones, but overlap only on a free core.
TrainingOptions settle_overlap_way(TrainingOptions options, comm::Communicator& control) {
    auto& settings = options.settings;
    const bool one_host = control.local_size() == control.world_size();
    std::int64_t facts[] = {one_host ? 1 : 0,
                            own_cores(control) > compute_threads(options) ? 1 : 0};
    control.allreduce(comm::view(std::span(facts)), comm::ReduceOp::min);
    vocabulary::settle(settings.transfer, facts[0] == 1 ? "blocking" : "background");
    const bool hides = facts[0] == 0 || facts[1] == 1;
    vocabulary::settle(settings.progress, hides ? "thread" : "none");
    // A gather goes on while this thread does other communication between two steps.
    if (settings.zero > 0 && !comm::MpiEnvironment::serves_several_threads())
        throw base::EnvironmentError(
            "this MPI library lets one thread at a time communicate; use another, or --zero 0");
    return options;
}

void check_resources(const TrainingOptions& options, const RunContext& around) {
    comm::on_root(around.control, [&, ranks = around.control.world_size()] {
        if (is_short_of_ranks(options, ranks))
            throw base::OptionError("this configuration is " + made_for_note(options, ranks));
    });
}

void check_data(TrainingOptions& options, std::int64_t samples, comm::Communicator& control) {
    const auto& settings = options.settings;
    double needed = 0;
    comm::all_or_throw(control, [&] {
        const auto asked = options.has_global_batch ? *settings.global_batch_size
                           : options.has_own_batch  ? *settings.batch_size
                                                    : 0;
        if (asked > samples)
            throw base::OptionError(
                fmt::format("a batch of {} exceeds the number of samples, {}", asked, samples),
                {"batch-size", "global-batch-size"});
        needed = needed_memory(options);
    });
    need_memory(control, needed, "the tensors of a step, and batches made ahead",
                {"batch-size", "prefetch"}, options.common.force);
}

std::optional<std::int64_t>& size_setting(vocabulary::TrainingSettings& settings) {
    const auto input = model_entry(settings).input;
    return input.is_tokens()   ? settings.sequence_length
           : input.is_volume() ? settings.crop_edge
                               : settings.image_size;
}

nn::InputShape model_input(const TrainingOptions& options) {
    const auto entry = model_entry(options.settings);
    auto input = entry.input;
    if (entry.from_file) return input;
    const auto& settings = options.settings;
    if (input.is_tokens()) {
        input.own.front().sizes = input.own_target.sizes = {*settings.sequence_length};
        return input;
    }
    input.height = input.width = *(input.is_volume() ? settings.crop_edge : settings.image_size);
    if (input.is_volume()) input.depth = input.height;
    return input;
}

namespace {

nn::ModelConfig model_config(const TrainingOptions& options) {
    return {.input = model_input(options),
            .dropout = options.settings.dropout == "on",
            .width = options.settings.width,
            .ops = options.ops(),
            .full_scale = options.settings.full_scale == "on",
            .lambda_rho = options.settings.lambda_rho};
}

}  // namespace

// One seed gives every rank the same weights. Rank 0's weights are broadcast nevertheless.
std::shared_ptr<nn::Model> make_model(const TrainingOptions& options) {
    const auto entry = model_entry(options.settings);
    torch::manual_seed(options.seed());
    return entry.make(model_config(options));
}

nn::Outline outline_of(const TrainingOptions& options) {
    return nn::outline_of(model_entry(options.settings), model_config(options));
}

train::TensorBatch sample_batch(const TrainingOptions& options, std::int64_t count) {
    const auto type = options.parameter_type();
    const auto input = model_input(options);
    auto sizes = input.target_sizes();
    sizes.insert(sizes.begin(), count);
    return {nn::sample_input(input, count, type),
            input.classifies() ? torch::randint(input.classes, sizes, torch::kLong)
                               : torch::randn(sizes, type)};
}

data::DataRequest data_request(const TrainingOptions& options) {
    const auto input = model_input(options);
    const auto& settings = options.settings;
    return {.input = input.input_sizes(),
            .target = input.target_sizes(),
            .classes = input.classes,
            .own_inputs = input.own,
            .own_target = input.own_target,
            .input_files = base::split(settings.inputs.value_or(""), ','),
            .target_file = settings.targets.value_or(""),
            .directory = settings.data_dir.value_or(""),
            .seed = options.seed(),
            .train_samples = settings.train_samples.value_or(0),
            .test_samples = settings.validation_samples.value_or(0),
            .evaluates = settings.evaluate != "off",
            .volume = {.in_memory = settings.volume_access == "inmem",
                       .rotate = settings.rotate == "on",
                       .rotate_vectors = settings.rotate_vectors}};
}

data::Loader::Config loader_config(const TrainingOptions& options, std::int64_t batch) {
    return {.workers = static_cast<int>(options.settings.workers.value_or(0)),
            .prefetch = static_cast<int>(options.settings.prefetch),
            .batch = batch};
}

}  // namespace ranklab::experiments
