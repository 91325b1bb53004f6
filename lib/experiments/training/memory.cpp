#include <ATen/record_function.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "experiments/shared/measurements.hpp"
#include "experiments/training/options.hpp"
#include "host/topology.hpp"
#include "nn/outline.hpp"
#include "train/tensor_view.hpp"
#include "train/trainer.hpp"

namespace ranklab::experiments {
namespace {

// n samples take fixed + per_sample x n bytes. `largest`: bytes per sample of the largest output of
// an operation, kept or not.
struct MemoryPart {
    std::string name;
    std::int64_t fixed = 0, per_sample = 0, largest = 0;
};

// The storage of an operation's output, held so that no other output gets its address. If autograd
// keeps the storage, its use count is above 1.
struct HeldStorage {
    c10::Storage storage;
    std::int64_t fixed = 0, per_sample = 0;
};

using Recorded = std::unordered_map<const void*, HeldStorage>;
thread_local Recorded* recorded = nullptr;  // LibTorch's callbacks are plain functions

// Held while autocast converts a weight: the converted copy's memory is never touched, either.
struct Untouched final : at::ObserverContext {
    nn::UninitialisedScope scope;
};

std::unique_ptr<at::ObserverContext> touch_no_copy(const at::RecordFunction& function) {
    if (std::string_view(function.name()) != "aten::_to_copy") return nullptr;
    return std::make_unique<Untouched>();
}

// Counts each storage once. With 0 samples a tensor has no bytes: the other dimensions of the
// storage's largest view give the bytes of one sample.
void note_outputs(const at::RecordFunction& function, at::ObserverContext*) {
    for (const auto& output : function.outputs()) {
        if (!output.isTensor() || !output.toTensor().has_storage()) continue;
        const auto& tensor = output.toTensor();
        const auto& storage = tensor.storage();
        auto& made = (*recorded)[storage.unsafeGetStorageImpl()];
        made.storage = storage;
        made.fixed = static_cast<std::int64_t>(storage.nbytes());
        auto bytes = static_cast<std::int64_t>(tensor.element_size());
        for (const std::int64_t size : tensor.sizes()) bytes *= std::max<std::int64_t>(1, size);
        if (made.fixed == 0) made.per_sample = std::max(made.per_sample, bytes);
    }
}

// Returns the memory of the batch and of what autograd keeps for backward, found with an empty
// batch, without computing.
MemoryPart activations_of(nn::Model& model, const TrainingOptions& options) {
    Recorded all;
    recorded = &all;
    const nn::OperationCallbacks callbacks(at::RecordFunctionCallback(touch_no_copy, note_outputs)
                                               .needsOutputs(true)
                                               .scopes({at::RecordScope::FUNCTION}));
    const auto batch = sample_batch(options, 0);
    const auto loss = model.loss(model.forward(batch.input), batch.targets);
    for (const auto& tensors : {model.parameters(), model.buffers()})
        for (const auto& own : tensors) all.erase(own.storage().unsafeGetStorageImpl());
    MemoryPart sum{.name = "activations"};
    for (const auto& [address, made] : all) {
        sum.largest = std::max(sum.largest, made.per_sample);
        if (made.storage.use_count() == 1) continue;
        sum.fixed += made.fixed;
        sum.per_sample += made.per_sample;
    }
    return sum;
}

// Makes the model on the CPU, in memory that is never touched. Another memory format takes as much.
std::shared_ptr<nn::Model> outlined_model(const TrainingOptions& options) {
    auto settings = options.settings;
    settings.channels_last = "false";
    settings.jit = false;
    std::optional<nn::UninitialisedScope> scope;
    if (!model_entry(options.settings).from_file) scope.emplace();
    return prepared(make_model(options), settings, torch::kCPU);
}

bool knows_activations(const TrainingOptions& options) {
    return !options.settings.jit && !options.settings.cuda_graph &&
           !model_entry(options.settings).from_file;
}

// Returns the bytes of one sample's input and target, in fp32 or int64.
std::int64_t sample_bytes(const TrainingOptions& options) {
    const auto input = model_input(options);
    const auto bytes = [](std::vector<std::int64_t> sizes, bool whole) {
        using base::Element;
        return base::Field{whole ? Element::i64 : Element::f32, std::move(sizes)}.bytes();
    };
    return static_cast<std::int64_t>(bytes(input.input_sizes(), input.is_whole()) +
                                     bytes(input.target_sizes(), input.classifies()));
}

// Returns the bytes of gradients that are copied into buckets.
std::int64_t bucket_bytes(const TrainingOptions& options, std::int64_t gradients) {
    if (entry_of(train::gradient_syncs(), *options.settings.sync).copies) return gradients;
    if (options.compression == train::Compression::none) return 0;
    return gradients * 2 / static_cast<std::int64_t>(c10::elementSize(options.parameter_type()));
}

// Returns the number of ranks that shard the training state; in a dry run --expected-ranks.
int sharing_ranks(const TrainingOptions& options) {
    const auto& settings = options.settings;
    const auto here = *settings.global_batch_size / *settings.batch_size / settings.accumulate;
    return static_cast<int>(options.common.dry_run ? settings.expected_ranks.value_or(here) : here);
}

// Bytes of a rank's tensors, summed over its replicas. The last part is the sum of all other parts.
std::vector<MemoryPart> rank_memory(const TrainingOptions& options) {
    const auto& settings = options.settings;
    const std::int64_t replicas = settings.replicas.value_or(1);
    const auto model = outlined_model(options);
    const auto trained = train::bytes_of(train::trained_parameters(*model));
    const auto states = optimizer_states(options);
    std::vector<MemoryPart> parts{
        {"weights",
         (train::bytes_of(model->parameters()) + train::bytes_of(model->buffers())) * replicas},
        {"gradients", trained * replicas},
        {"optimizer", trained * states},
        {"buckets", bucket_bytes(options, trained)}};
    if (settings.zero > 0) {
        const auto sharded = train::predict_bytes(*model, options.zero(), sharing_ranks(options),
                                                  options.bucket_cap(), states);
        parts[0].fixed += sharded.parameters - trained;
        parts[1].fixed = sharded.gradients;
        parts[2].fixed = sharded.optimizer;
        parts[3].fixed = sharded.blocks;
    }
    if (knows_activations(options)) parts.push_back(activations_of(*model, options));
    MemoryPart sum{.name = "per-rank"};
    for (const auto& part : parts) {
        sum.fixed += part.fixed;
        sum.per_sample += part.per_sample;
        sum.largest = std::max(sum.largest, part.largest);
    }
    parts.push_back(sum);
    return parts;
}

}  // namespace

std::int64_t optimizer_states(const TrainingOptions& options) {
    return entry_of(train::optimizers(), *options.settings.optimizer)
        .states({.momentum = *options.settings.momentum});
}

std::vector<results::Setting> memory_settings(const TrainingOptions& options, int local_ranks) {
    if (options.input == Input::io_only) return {};
    std::vector<results::Setting> rows;
    std::int64_t bytes = 0;
    for (const auto& part : rank_memory(options)) {
        bytes = part.fixed + part.per_sample * *options.settings.batch_size;
        rows.push_back({fmt::format("memory-{}-bytes", part.name), fmt::format("{}", bytes), true});
    }
    if (!knows_activations(options)) rows.pop_back();
    auto copy = options;
    const double needed = needed_memory(copy);
    const auto free = host::free_memory(host::system_root());
    const bool refused = free && needed * local_ranks > static_cast<double>(*free);
    rows.push_back(
        {"memory",
         fmt::format("tensors take {} per rank{}{}; {}the program, libraries, their copies and "
                     "gaps in the heap come on top",
                     base::human_bytes(static_cast<double>(bytes)),
                     knows_activations(options) ? "" : " without activations, which are not known",
                     options.on_gpu()
                         ? ""
                         : fmt::format(", {} with tensors of backward and prefetched batches{}",
                                       base::human_bytes(needed),
                                       refused ? ": a run would be refused here" : ""),
                     options.on_gpu() ? "backward, " : ""),
         false});
    return rows;
}

// Backward holds at least the gradients of an operation's output and input at a time.
double needed_memory(TrainingOptions& options) {
    const auto& settings = options.settings;
    const double ahead = *settings.workers > 0 ? 1.0 + base::real(settings.prefetch) : 1.0;
    const double batch = base::real(*settings.batch_size);
    const double read = batch * base::real(sample_bytes(options)) * (1 + ahead / sizeof(float));
    if (options.input == Input::io_only) return read;
    const auto sum = rank_memory(options).back();
    if (knows_activations(options)) options.memory = {sum.fixed, sum.per_sample};
    if (options.on_gpu()) return read;
    return read + base::real(sum.fixed) + base::real(sum.per_sample + 2 * sum.largest) * batch;
}

void add_memory(results::Run& run, const TrainingOptions& options) {
    if (!options.memory) return;
    const Facts fact{run, "training"};
    fact("memory_fixed_bytes", options.memory->first);
    fact("memory_bytes_per_sample", options.memory->second);
}

}  // namespace ranklab::experiments
