#include "train/trainer.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace ranklab::train {
namespace {

// The validation crops are the same in every epoch of every run, whatever its seed.
constexpr std::uint64_t kValidationSeed = 0x76616c6964;

std::vector<data::Draw> validation_draws(base::Share part, std::int64_t b, std::int64_t batch) {
    std::vector<data::Draw> draws;
    const std::int64_t begin = part.first + b * batch;
    for (std::int64_t i = begin; i < std::min(begin + batch, part.end()); ++i)
        draws.push_back({i, data::random_of(kValidationSeed, 0, i)});
    return draws;
}

void add_batch(EvaluationSums& sums, nn::Model& model, const TensorBatch& tensors) {
    const torch::Tensor output = model.forward(tensors.input);
    sums.loss += model.loss(output, tensors.targets).item<double>() * static_cast<double>(tensors.count());
    if (tensors.targets.dim() == 1)
        sums.correct += output.argmax(1).eq(tensors.targets).sum().item<std::int64_t>();
    sums.count += tensors.count();
}

}  // namespace

using base::Phase;

Trainer::Trainer(nn::Model& model, GradientSync& sync, Optimizer& optimizer, base::PhaseSink& phases,
                 BufferSync* buffers, GradScaler* scaler)
    : model_(model),
      sync_(sync),
      phases_(phases),
      scaler_(scaler),
      parameters_(trained_parameters(model)),
      optimizer_(optimizer),
      buffers_(buffers) {
    sync_.attach(parameters_);
}

void Trainer::broadcast_buffers(bool last_of_step) {
    if (buffers_ != nullptr && first_of_step_) {
        const auto mark = phases_.phase(Phase::sync);
        buffers_->broadcast();
    }
    first_of_step_ = last_of_step;
}

torch::Tensor Trainer::accumulate(const TensorBatch& batch, double weight, bool last) {
    const bool has_samples = batch.count() > 0;
    broadcast_buffers(last);
    torch::Tensor loss;
    torch::Tensor weighted;
    if (has_samples) {
        const auto mark = phases_.phase(Phase::forward);
        loss = model_.loss(model_.forward(batch.input), batch.targets);
        weighted = weight == 1.0 ? loss : loss * weight;
        if (scaler_ != nullptr) weighted = scaler_->scaled(weighted);
    }
    {
        const auto mark = phases_.phase(Phase::backward);
        sync_.begin_step(has_samples ? std::vector{weighted} : std::vector<torch::Tensor>(), last);
        if (has_samples) weighted.backward();
    }
    return has_samples ? loss.detach() : torch::Tensor();
}

bool Trainer::update() {
    {
        const auto mark = phases_.phase(Phase::sync);
        sync_.finish();
    }
    const auto mark = phases_.phase(Phase::optimizer);
    if (scaler_ != nullptr) return scaler_->step(parameters_, optimizer_);
    optimizer_.step();
    return true;
}

std::vector<torch::Tensor> trained_parameters(const nn::Model& model) {
    std::vector<torch::Tensor> trained;
    std::unordered_set<const c10::TensorImpl*> seen;
    for (const auto& parameter : model.parameters()) {
        if (parameter.requires_grad() && seen.insert(parameter.unsafeGetTensorImpl()).second)
            trained.push_back(parameter);
    }
    return trained;
}

std::vector<Phase> Trainer::phases() const {
    return {Phase::forward, Phase::backward, Phase::sync, Phase::optimizer};
}

std::vector<std::string> trained_parameter_names(const nn::Model& model) {
    const auto trained = trained_parameters(model);
    std::vector<std::string> names;
    for (const auto& item : model.named_parameters()) {
        if (names.size() < trained.size() && item.value().is_same(trained[names.size()]))
            names.push_back(item.key());
    }
    return names;
}

EvaluationSums evaluate(nn::Model& model, const data::Source& source, base::Share part,
                        const data::Loader::Config& config, const InputConverter& convert,
                        const std::function<bool()>& goes_on, std::int64_t turns) {
    const torch::NoGradGuard no_gradients;
    model.eval();
    EvaluationSums sums;
    data::Loader::Config fitting = config;
    fitting.batch = std::clamp<std::int64_t>(part.count, 1, config.batch);
    data::Loader loader(source, fitting);
    const std::int64_t batches = (part.count + config.batch - 1) / config.batch;
    loader.start([&](std::int64_t b) { return validation_draws(part, b, config.batch); }, 0, batches);
    for (std::int64_t b = 0; b < std::max(batches, turns); ++b) {
        if (b < batches) add_batch(sums, model, convert(loader.next()));
        if (goes_on && b < turns && !goes_on()) break;
    }
    model.train();
    return sums;
}

}  // namespace ranklab::train
