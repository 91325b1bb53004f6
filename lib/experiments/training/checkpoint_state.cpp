#include "experiments/training/checkpoint_state.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/error.hpp"
#include "base/text.hpp"
#include "train/tensor_view.hpp"
#include "train/trainer.hpp"

namespace ranklab::experiments {
namespace {

using train::dtype_of;
using train::element_of;

NamedArray array_of(const std::string& name, const torch::Tensor& tensor) {
    const torch::Tensor dense = tensor.detach().cpu().contiguous();
    NamedArray array{name, {element_of(dense.scalar_type()), dense.sizes().vec(), {}}};
    const auto* begin = static_cast<const std::byte*>(dense.const_data_ptr());
    array.values.bytes.assign(begin, begin + dense.nbytes());
    return array;
}

torch::Tensor tensor_of(const void* bytes, torch::IntArrayRef shape, torch::Dtype type) {
    torch::Tensor tensor = torch::empty(shape, type);
    if (tensor.nbytes() > 0) std::memcpy(tensor.mutable_data_ptr(), bytes, tensor.nbytes());
    return tensor;
}

torch::Tensor tensor_of(const NamedArray& array) {
    return tensor_of(array.values.bytes.data(), array.values.shape, dtype_of(array.values.element));
}

template <class NamedTensors>
std::vector<NamedArray> arrays_of(const NamedTensors& tensors) {
    std::vector<NamedArray> arrays;
    for (const auto& item : tensors) arrays.push_back(array_of(item.key(), item.value()));
    return arrays;
}

// Throws DataError unless names, shapes and types are the model's, in its order.
template <class NamedTensors>
void take_tensors(const std::vector<NamedArray>& arrays, const NamedTensors& tensors,
                  const char* kind) {
    if (arrays.size() != tensors.size())
        throw base::DataError(
            fmt::format("the checkpoint has {} {}, and this model {}; it is another model's",
                        arrays.size(), kind, tensors.size()));
    std::size_t i = 0;
    for (const auto& item : tensors) {
        const NamedArray& array = arrays[i++];
        const auto shape = item.value().sizes().vec();
        if (array.name != item.key() || array.values.shape != shape ||
            dtype_of(array.values.element) != item.value().scalar_type())
            throw base::DataError(
                fmt::format("the checkpoint's '{}' of shape {} does not fit this model's '{}' of "
                            "shape {}; it is another model's",
                            base::printable(array.name, 80), base::shape_text(array.values.shape),
                            item.key(), base::shape_text(shape)));
        item.value().copy_(tensor_of(array));
    }
}

train::OptimizerState state_of(const ArraySet& set, const std::vector<std::string>& names) {
    train::OptimizerState state{set.name, std::vector<torch::Tensor>(names.size())};
    for (const auto& array : set.arrays) {
        const auto found = std::find(names.begin(), names.end(), array.name);
        if (found == names.end())
            throw base::DataError(
                fmt::format("the checkpoint has an optimizer's state of '{}', which this model "
                            "does not have; it is another model's",
                            base::printable(array.name, 80)));
        state.tensors[static_cast<std::size_t>(found - names.begin())] = tensor_of(array);
    }
    return state;
}

void load_generator(at::Generator generator, const std::string& bytes) {
    const auto state =
        tensor_of(bytes.data(), static_cast<std::int64_t>(bytes.size()), torch::kByte);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    try {
        generator.set_state(state);
    } catch (const c10::Error&) {
        throw base::DataError("the checkpoint's state of LibTorch's random generator is invalid");
    }
}

std::string save_generator(at::Generator generator) {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    const torch::Tensor state = generator.get_state();
    return {static_cast<const char*>(state.const_data_ptr()), state.nbytes()};
}

std::string text_of(const hdf5::TypedArray& array) {
    return {reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()};
}

}  // namespace

RankState generator_state(const std::string& name, const at::Generator& generator) {
    return {name, [generator] { return save_generator(generator); },
            [generator](const std::string& bytes) { load_generator(generator, bytes); }};
}

RankState torch_cpu_generator() {
    return generator_state("torch_cpu_generator", at::detail::getDefaultCPUGenerator());
}

void put_training(Checkpoint& checkpoint, const nn::Model& model, train::Optimizer& optimizer) {
    checkpoint.parameters = arrays_of(model.named_parameters());
    checkpoint.buffers = arrays_of(model.named_buffers());
    const auto names = train::trained_parameter_names(model);
    for (const auto& state : optimizer.state()) {
        ArraySet set{state.name, {}};
        for (std::size_t i = 0; i < state.tensors.size(); ++i) {
            if (state.tensors[i].defined())
                set.arrays.push_back(array_of(names[i], state.tensors[i]));
        }
        checkpoint.optimizer.push_back(std::move(set));
    }
}

void take_training(const Checkpoint& checkpoint, nn::Model& model, train::Optimizer& optimizer) {
    const torch::NoGradGuard no_gradients;
    take_tensors(checkpoint.parameters, model.named_parameters(), "parameters");
    take_tensors(checkpoint.buffers, model.named_buffers(), "buffers");
    std::vector<train::OptimizerState> states;
    for (const auto& set : checkpoint.optimizer)
        states.push_back(state_of(set, train::trained_parameter_names(model)));
    optimizer.load_state(states);
}

void put_rank_state(Checkpoint& checkpoint, const std::string& name,
                    const std::vector<std::string>& by_rank) {
    checkpoint.ranks.resize(by_rank.size());
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
        const auto* begin = reinterpret_cast<const std::byte*>(by_rank[rank].data());
        const auto size = static_cast<std::int64_t>(by_rank[rank].size());
        checkpoint.ranks[rank].name = fmt::format("{}", rank);
        checkpoint.ranks[rank].arrays.push_back(
            {name, {hdf5::Element::u8, {size}, {begin, begin + size}}});
    }
}

void take_rank(const Checkpoint& checkpoint, int rank, const std::vector<RankState>& states) {
    const std::string name = fmt::format("{}", rank);
    const auto set = std::ranges::find(checkpoint.ranks, name, &ArraySet::name);
    if (set == checkpoint.ranks.end())
        throw base::DataError(fmt::format("the checkpoint has no state of rank {}", rank));
    if (set->arrays.size() != states.size())
        throw base::DataError(
            fmt::format("the checkpoint has {} states of rank {}, and this program {}",
                        set->arrays.size(), rank, states.size()));
    for (const auto& state : states) {
        const auto found = std::ranges::find(set->arrays, state.name, &NamedArray::name);
        if (found == set->arrays.end())
            throw base::DataError(
                fmt::format("the checkpoint has no '{}' of rank {}", state.name, rank));
        state.load(text_of(found->values));
    }
}

}  // namespace ranklab::experiments
