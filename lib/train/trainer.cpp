#include "train/trainer.hpp"

#include <numeric>

#include "train/tensor_view.hpp"

namespace ranklab::train {

using base::Phase;

Trainer::Trainer(nn::Model& model, GradientSync& sync, Optimizer& optimizer, base::PhaseSink& phases)
    : model_(model), sync_(sync), optimizer_(optimizer), phases_(phases) {
    sync_.attach(model_.parameters());
}

double Trainer::train_step(const TensorBatch& batch, double weight) {
    const bool has_samples = batch.count() > 0;
    torch::Tensor loss;
    if (has_samples) {
        const auto mark = phases_.phase(Phase::forward);
        loss = model_.loss(model_.forward(batch.images), batch.targets);
    }
    {
        const auto mark = phases_.phase(Phase::backward);
        sync_.begin_step(true);
        if (has_samples) (weight == 1.0 ? loss : loss * weight).backward();
    }
    {
        const auto mark = phases_.phase(Phase::sync);
        sync_.finish();
    }
    {
        const auto mark = phases_.phase(Phase::optimizer);
        optimizer_.step();
    }
    return has_samples ? loss.item<double>() : 0.0;
}

std::vector<Phase> Trainer::phases() const {
    return {Phase::forward, Phase::backward, Phase::sync, Phase::optimizer};
}

EvaluationSums evaluate(nn::Model& model, const data::ImageSet& set, data::Part part, std::int64_t batch_size,
                        const Normalizer& normalize) {
    const torch::NoGradGuard no_gradients;
    model.eval();
    EvaluationSums sums;
    data::Batch batch;
    std::vector<std::int64_t> indices;
    for (std::int64_t begin = part.begin; begin < part.end; begin += batch_size) {
        indices.resize(static_cast<std::size_t>(std::min(batch_size, part.end - begin)));
        std::iota(indices.begin(), indices.end(), begin);
        data::gather_batch(set, indices, batch);
        const TensorBatch tensors = normalize(batch, set.shape);
        const torch::Tensor output = model.forward(tensors.images);
        sums.loss +=
            model.loss(output, tensors.targets).item<double>() * static_cast<double>(tensors.count());
        sums.correct += output.argmax(1).eq(tensors.targets).sum().item<std::int64_t>();
        sums.count += tensors.count();
    }
    model.train();
    return sums;
}

std::uint64_t parameter_hash(const nn::Model& model) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    const auto add = [&hash](const torch::Tensor& tensor) {
        const torch::Tensor dense = tensor.detach().cpu().contiguous();
        const auto* bytes = static_cast<const unsigned char*>(dense.const_data_ptr());
        for (std::size_t i = 0; i < dense.nbytes(); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
    };
    for (const auto& parameter : model.parameters()) add(parameter);
    for (const auto& buffer : model.buffers()) add(buffer);
    return hash;
}

void broadcast_parameters(nn::Model& model, comm::Communicator& comm) {
    const torch::NoGradGuard no_gradients;
    for (const auto& parameter : model.parameters()) comm.broadcast(view_of(parameter), 0);
    for (const auto& buffer : model.buffers()) comm.broadcast(view_of(buffer), 0);
}

}  // namespace ranklab::train
