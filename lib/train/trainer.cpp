#include "train/trainer.hpp"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/generated/variable_factories.h>

#include <algorithm>

#include "base/error.hpp"

namespace ranklab::train {
namespace {

// Fixed, so that all epochs and runs validate on the same crops.
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
    sums.loss +=
        model.loss(output, tensors.targets).item<double>() * static_cast<double>(tensors.count());
    if (tensors.targets.scalar_type() == torch::kLong)
        sums.correct +=
            static_cast<double>(tensors.count()) *
            output.argmax(1).eq(tensors.targets).to(torch::kDouble).mean().item<double>();
    sums.count += tensors.count();
}

}  // namespace

using base::Phase;

Trainer::Trainer(nn::Model& model, GradientSync& sync, Optimizer& optimizer,
                 base::PhaseSink& phases, BufferSync* buffers, GradScaler* scaler,
                 comm::Communicator* branches)
    : model_(model),
      sync_(sync),
      phases_(phases),
      scaler_(scaler),
      parameters_(trained_parameters(model)),
      owned_(sync.owned(parameters_)),
      optimizer_(optimizer),
      buffers_(buffers),
      branches_(branches),
      reached_(parameters_.size()) {
    sync_.attach(parameters_);
    if (branches_ != nullptr)
        hooks_ = std::make_unique<GradientHooks>(parameters_,
                                                 [this](std::size_t i) { reached_[i] = 1; });
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
    if (first_of_step_) reached_.assign(parameters_.size(), 0);
    sync_.begin_forward(phases_);
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
    auto reached = reached_;  // copied first: c10d's finish() reaches all parameters
    {
        const auto mark = phases_.phase(Phase::sync);
        sync_.finish();
        if (branches_ != nullptr)
            branches_->allreduce(comm::view(std::span(reached)), comm::ReduceOp::max);
    }
    const auto mark = phases_.phase(Phase::optimizer);
    // Gradients to put back afterwards, since they may be views of the sync's buffers.
    std::vector<std::pair<torch::Tensor, torch::Tensor>> left_out;
    for (std::size_t i = 0; branches_ != nullptr && i < owned_.tensors.size(); ++i) {
        if (reached[owned_.parameter_of[i]] != 0) continue;
        left_out.emplace_back(owned_.tensors[i], owned_.tensors[i].grad());
        owned_.tensors[i].mutable_grad().reset();
    }
    bool stepped = true;
    if (scaler_ != nullptr)
        stepped = scaler_->step(owned_.tensors, optimizer_, owned_.sum);
    else
        optimizer_.step();
    for (const auto& [tensor, gradient] : left_out) tensor.mutable_grad() = gradient;
    sync_.end_update(stepped);
    return stepped;
}

std::vector<Phase> Trainer::phases() const {
    return {Phase::forward, Phase::backward, Phase::sync, Phase::optimizer};
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
    loader.start([&](std::int64_t b) { return validation_draws(part, b, config.batch); }, 0,
                 batches);
    for (std::int64_t b = 0; b < std::max(batches, turns); ++b) {
        if (b < batches) add_batch(sums, model, convert(loader.next()));
        if (goes_on && b < turns && !goes_on()) break;
    }
    model.train();
    return sums;
}

namespace {

/// Maps `bytes` [images, channels, plane] through the table of their channel.
template <class T>
void look_up(const torch::Tensor& table, const std::uint8_t* bytes, std::int64_t planes,
             std::int64_t plane, torch::Tensor& out) {
    const T* const values = table.const_data_ptr<T>();
    const std::int64_t channels = table.size(0);
    T* const to = out.mutable_data_ptr<T>();
    const std::int64_t grain =
        std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, plane));
    at::parallel_for(0, planes, grain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
            const T* const of_channel = values + p % channels * 256;
            for (std::int64_t i = p * plane; i < (p + 1) * plane; ++i) to[i] = of_channel[bytes[i]];
        }
    });
}

std::vector<std::int64_t> batch_sizes(std::int64_t count, const data::Field& field) {
    std::vector<std::int64_t> sizes{count};
    sizes.insert(sizes.end(), field.sizes.begin(), field.sizes.end());
    return sizes;
}

// Copies to a GPU asynchronously, on the current stream, from LibTorch's own pinned memory, which
// LibTorch does not reuse before the transfer has ended. The loader's memory cannot be the source:
// the next batch may overwrite it before the GPU has read it.
torch::Tensor moved(const torch::Tensor& tensor, torch::Device device) {
    if (device.is_cpu()) return tensor;
    const torch::Tensor pinned = tensor.is_pinned() ? tensor : tensor.pin_memory();
    return pinned.to(device, /*non_blocking=*/true);
}

// Integers: a view of the loader's memory. Floating-point numbers: converted to `floating`.
torch::Tensor over(const std::shared_ptr<std::byte>& memory, const std::vector<std::int64_t>& sizes,
                   data::Element element, torch::Dtype floating) {
    if (element == data::Element::i64) return torch::from_blob(memory.get(), sizes, torch::kLong);
    const auto stored = element == data::Element::f64 ? torch::kDouble : torch::kFloat;
    return torch::from_blob(memory.get(), sizes, stored).to(floating);
}

}  // namespace

InputConverter::InputConverter(data::SampleLayout layout, const std::vector<double>& mean,
                               const std::vector<double>& std, torch::Dtype dtype,
                               Placement placement)
    : layout_(std::move(layout)), placement_(placement) {
    std::vector<torch::Tensor> tables;
    for (std::size_t c = 0; c < mean.size(); ++c) {
        tables.push_back(torch::arange(256, torch::TensorOptions().dtype(dtype))
                             .div_(255)
                             .sub_(mean[c])
                             .div_(std.at(c)));
    }
    table_ = torch::stack(tables);
}

TensorBatch InputConverter::operator()(const data::Batch& batch) const {
    const auto input = moved(input_of(batch), placement_.device);
    return {placement_.channels_last ? channels_last(input) : input,
            moved(targets_of(batch), placement_.device)};
}

torch::Tensor InputConverter::input_of(const data::Batch& batch) const {
    const auto sizes = batch_sizes(batch.count, layout_.input);
    if (layout_.input.element != data::Element::u8)
        return over(batch.input, sizes, layout_.input.element, table_.scalar_type());
    // Pinned for a GPU, which saves moved() a copy.
    torch::Tensor input =
        torch::empty(sizes, table_.options().pinned_memory(!placement_.device.is_cpu()));
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(batch.input.get());
    const std::int64_t channels = layout_.input.sizes.front();
    const std::int64_t plane = layout_.input.elements() / channels;
    if (table_.scalar_type() == torch::kDouble) {
        look_up<double>(table_, bytes, batch.count * channels, plane, input);
    } else {
        look_up<float>(table_, bytes, batch.count * channels, plane, input);
    }
    return input;
}

torch::Tensor InputConverter::targets_of(const data::Batch& batch) const {
    const auto sizes = batch_sizes(batch.count, layout_.target);
    const auto targets = over(batch.target, sizes, layout_.target.element, table_.scalar_type());
    return layout_.target.element == data::Element::i64 ? targets.clone() : targets;
}

}  // namespace ranklab::train
