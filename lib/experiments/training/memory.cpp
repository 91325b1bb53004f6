#include <fmt/format.h>

#include "base/text.hpp"
#include "experiments/training/options.hpp"
#include "train/step_memory.hpp"
#include "train/trainer.hpp"

namespace ranklab::experiments {
namespace {

std::int64_t bytes_of_all(const std::vector<torch::Tensor>& tensors) {
    std::int64_t bytes = 0;
    for (const auto& tensor : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
    return bytes;
}

// On the CPU, in memory that was never touched; another memory format would take as much.
std::shared_ptr<nn::Model> outlined_model(const TrainingOptions& options) {
    auto speed = on_cpu(options.speed);
    speed.channels_last = speed.jit = false;
    if (model_input(options).is_own()) return prepared(make_model(options), speed, torch::kCPU, "");
    const nn::UninitialisedScope scope;
    return prepared(make_model(options), speed, torch::kCPU, "");
}

}  // namespace

bool step_memory_known(const TrainingOptions& options) {
    return !options.speed.jit && !options.speed.cuda_graph && !model_input(options).is_own() &&
           options.input.kind != Input::io_only;
}

train::MemoryEstimate rank_memory(const TrainingOptions& options) {
    const auto& settings = options.settings;
    const std::int64_t replicas = settings.replicas.value_or(1);
    const auto model = outlined_model(options);
    const auto trained = bytes_of_all(train::trained_parameters(*model));
    const std::int64_t element = options.speed.precision == train::Precision::fp64 ? 8 : 4;
    train::MemoryEstimate bytes;
    bytes.weights = (bytes_of_all(model->parameters()) + bytes_of_all(model->buffers())) * replicas;
    bytes.gradients = trained * replicas;
    bytes.optimizer =
        trained *
        entry_of(train::optimizers(), *settings.optimizer).states({.momentum = *settings.momentum});
    if (entry_of(train::gradient_syncs(), *settings.sync).copies) bytes.buckets = trained;
    if (options.compression != train::Compression::none) bytes.buckets = trained / element * 2;
    bytes.check = trained;
    if (!step_memory_known(options)) return bytes;
    const auto batch = sample_batch(options, 0, options.speed.parameter_type());
    const auto step = train::step_memory(*model, batch, *settings.batch_size);
    bytes.activations = step.saved;
    bytes.backward = {step.peak.fixed - step.saved.fixed,
                      step.peak.per_sample - step.saved.per_sample};
    return bytes;
}

std::vector<results::Setting> memory_settings(const TrainingOptions& options) {
    const auto bytes = rank_memory(options);
    const bool step_known = step_memory_known(options);
    const std::int64_t batch = *options.settings.batch_size;
    std::vector<results::Setting> rows;
    const auto row = [&](const char* of, std::int64_t number, bool known = true) {
        rows.push_back({fmt::format("memory-{}-bytes", of),
                        known ? fmt::format("{}", number) : "not known", known});
    };
    row("weights", bytes.weights);
    row("gradients", bytes.gradients);
    row("optimizer", bytes.optimizer);
    row("buckets", bytes.buckets);
    row("check", bytes.check);
    row("activations", bytes.activations.at(batch), step_known);
    row("backward", bytes.backward.at(batch), step_known);
    const auto sum = bytes.bytes_at(batch);
    row("per-rank", sum, step_known);
    rows.push_back(
        {"memory",
         fmt::format("tensors take {}{} a rank; program, libraries, what they copy, and gaps in "
                     "the heap come on top",
                     step_known ? "" : "more than ", base::human_bytes(static_cast<double>(sum))),
         false});
    return rows;
}

}  // namespace ranklab::experiments
