#include "train/replicas.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <mutex>

#include "nn/ops/ops.hpp"
#include "train/equal_state.hpp"
#include "train/gradient_sync.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {

using base::Phase;

namespace {

// Makes replicas 1, 2, ... and restores the generators' states: making a model seeds the generators
// from which replica 0's dropout draws.
std::vector<std::shared_ptr<nn::Model>> make_others(const nn::Model& model,
                                                    const ReplicaSetup& setup) {
    StateSnapshot rewind(model, default_generators(setup.devices.front()));
    std::vector<std::shared_ptr<nn::Model>> models;
    for (std::size_t replica = 1; replica < setup.devices.size(); ++replica)
        models.push_back(setup.make(setup.devices[replica]));
    rewind();
    return models;
}

// Returns the GPU's default generator, which LibTorch's operations use; on the CPU one per replica.
at::Generator generator_of(const ReplicaSetup& setup, std::size_t replica) {
    const auto& device = setup.devices[replica];
    const auto seed = setup.seed + replica;
    if (device.is_cpu())
        return replica == 0 ? at::detail::getDefaultCPUGenerator()
                            : at::detail::createCPUGenerator(seed);
    auto generator = at::globalContext().defaultGenerator(device);
    if (replica > 0) {
        const std::lock_guard lock(generator.mutex());
        generator.set_current_seed(seed);
    }
    return generator;
}

}  // namespace

std::vector<base::Share> chunks_of(std::int64_t count, std::size_t replicas) {
    const auto parts = static_cast<std::int64_t>(replicas);
    const std::int64_t size = (count + parts - 1) / parts;
    std::vector<base::Share> chunks;
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t first = std::min(part * size, count);
        chunks.push_back({first, std::min(size, count - first)});
    }
    return chunks;
}

DataParallel::DataParallel(nn::Model& model, const ReplicaSetup& setup, Optimizer& optimizer,
                           base::PhaseSink& phases, GradScaler* scaler)
    : optimizer_(optimizer),
      phases_(phases),
      scaler_(scaler),
      places_(setup.devices),
      coalesces_(setup.coalesces || places_.on_gpus()),
      threads_(setup.devices.size(), setup.threads, setup.cores) {
    const auto others = make_others(model, setup);
    for (std::size_t r = 0; r < setup.devices.size(); ++r) {
        Replica replica{.model = r == 0 ? &model : others[r - 1].get(),
                        .own = r == 0 ? nullptr : others[r - 1],
                        .device = setup.devices[r],
                        .generator = generator_of(setup, r)};
        replica.state = state_of(*replica.model);
        parameters_.push_back(trained_parameters(*replica.model));
        replicas_.push_back(std::move(replica));
    }
    threads_.run([this](std::size_t r) { places_.enter(r); });
}

std::vector<Phase> DataParallel::phases() const {
    return {Phase::scatter,  Phase::replicate, Phase::forward,  Phase::gather,
            Phase::backward, Phase::reduce,    Phase::optimizer};
}

torch::Tensor DataParallel::accumulate(const TensorBatch& batch, double weight, bool) {
    const double loss = compute_gradient(batch, weight, scaler_);
    return batch.count() > 0 ? torch::scalar_tensor(loss, torch::kDouble) : torch::Tensor();
}

bool DataParallel::update() {
    const auto mark = phases_.phase(Phase::optimizer);
    if (scaler_ != nullptr) return scaler_->step(parameters_.front(), optimizer_);
    optimizer_.step();
    return true;
}

double DataParallel::compute_gradient(const TensorBatch& batch, double weight,
                                      const GradScaler* scaler) {
    const auto parts = chunks_of(batch.count(), replicas_.size());
    const bool has_samples = batch.count() > 0;
    scatter(batch, parts);
    replicate();
    forward();
    torch::Tensor output;
    torch::Tensor loss;
    if (has_samples) {
        {
            const auto mark = phases_.phase(Phase::gather);
            output = gather();
        }
        const auto mark = phases_.phase(Phase::forward);
        loss = replicas_.front().model->loss(output, batch.targets.to(output.device()));
    }
    if (has_samples) {
        torch::Tensor gradient;
        {
            const auto mark = phases_.phase(Phase::backward);
            const torch::Tensor weighted = weight == 1.0 ? loss : loss * weight;
            const torch::Tensor start = scaler != nullptr ? scaler->scaled(weighted) : weighted;
            gradient = torch::autograd::grad({start}, {output}).front();
        }
        const auto mark = phases_.phase(Phase::gather);
        hand_back(gradient, parts);
    }
    backward();
    reduce();
    return has_samples ? loss.item<double>() : 0.0;
}

// Copies each replica's part of the input to its device; on the CPU a part is a view. Targets stay
// on replica 0's device, which computes the loss.
void DataParallel::scatter(const TensorBatch& batch, const std::vector<base::Share>& parts) {
    const auto mark = phases_.phase(Phase::scatter);
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
        const auto [first, count] = parts[r];
        replicas_[r].input = count == 0
                                 ? torch::Tensor()
                                 : batch.input.narrow(0, first, count).to(replicas_[r].device);
    }
}

// Each replica's thread copies its parameters, so that the memory lies near its cores and all GPUs
// receive at once. Skips replicas without samples.
void DataParallel::replicate() {
    const auto mark = phases_.phase(Phase::replicate);
    const auto pieces = coalesces_ && replicas_.size() > 1
                            ? flattened_pieces(replicas_.front().state)
                            : std::vector<torch::Tensor>();
    threads_.run([&](std::size_t r) {
        if (r != 0 && replicas_[r].input.defined()) take_state(replicas_[r], pieces);
    });
}

void DataParallel::take_state(Replica& replica, const std::vector<torch::Tensor>& pieces) const {
    const Replica& first = replicas_.front();
    const torch::NoGradGuard no_gradients;
    if (coalesces_)
        copy_pieces(pieces, replica.state);
    else
        for (std::size_t i = 0; i < replica.state.size(); ++i)
            replica.state[i].copy_(first.state[i]);
    if (replica.model->is_training() != first.model->is_training())
        replica.model->train(first.model->is_training());
}

void DataParallel::forward() {
    const auto mark = phases_.phase(Phase::forward);
    threads_.run([this](std::size_t r) {
        Replica& replica = replicas_[r];
        if (!replica.input.defined()) return;
        const nn::GeneratorScope draws_from(replica.generator);
        replica.output = replica.model->forward(replica.input);
    });
}

// Returns the outputs as a new autograd leaf, from which the loss is computed; its gradient is
// handed back to the replicas' graphs.
torch::Tensor DataParallel::gather() const {
    std::vector<torch::Tensor> outputs;
    for (const auto& replica : replicas_) {
        if (replica.input.defined())
            outputs.push_back(replica.output.detach().to(replicas_.front().device));
    }
    return torch::cat(outputs).requires_grad_();
}

void DataParallel::hand_back(const torch::Tensor& gradient, const std::vector<base::Share>& parts) {
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
        const auto [first, count] = parts[r];
        if (count > 0)
            replicas_[r].output_gradient = gradient.narrow(0, first, count).to(replicas_[r].device);
    }
}

// On the CPU autograd computes in the calling thread. On a GPU it uses the GPU's thread and the
// forward's stream, and the calling thread waits until all kernels are launched.
void DataParallel::backward() {
    const auto mark = phases_.phase(Phase::backward);
    threads_.run([this](std::size_t r) {
        Replica& replica = replicas_[r];
        drop_gradients(parameters_[r]);
        if (!replica.input.defined()) return;
        torch::autograd::backward({replica.output}, {replica.output_gradient});
        replica.output.reset();
        replica.output_gradient.reset();
    });
}

void DataParallel::reduce() {
    const auto mark = phases_.phase(Phase::reduce);
    sum_gradients(parameters_, coalesces_ ? kPieceBytes : 0);
}

}  // namespace ranklab::train
