#include "train/equal_state.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

// Broadcasts dense tensors, whose shapes, types and strides must be equal on all ranks. Tensors on
// a GPU go through host memory, since the control plane cannot transfer GPU memory.
void broadcast_tensors(const std::vector<torch::Tensor>& tensors, comm::Communicator& comm) {
    const torch::NoGradGuard no_gradients;
    for (auto tensor : tensors) {
        const auto copy = tensor.cpu();
        comm.broadcast(view_of(in_memory_order(copy.detach())), 0);
        if (!tensor.is_cpu()) tensor.copy_(copy);
    }
}

// Broadcasts the optimizer's state from rank 0. Before a broadcast the other ranks drop a tensor
// that rank 0 lacks, or make a missing one in the parameter's shape.
void take_optimizer(const nn::Model& model, Optimizer& optimizer, comm::Communicator& control) {
    const auto parameters = trained_parameters(model);
    auto state = optimizer.state();
    for (auto& kind : state) {
        for (std::size_t i = 0; i < kind.tensors.size(); ++i) {
            auto& tensor = kind.tensors[i];
            if (!comm::from_root(control, tensor.defined()))
                tensor = torch::Tensor();
            else if (!tensor.defined())
                tensor = torch::zeros_like(parameters[i]).detach();
            if (tensor.defined()) broadcast_tensors({tensor}, control);
        }
    }
    optimizer.load_state(state);
}

}  // namespace

std::uint64_t hash_of(const std::vector<torch::Tensor>& tensors) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const auto& tensor : tensors) {
        const torch::Tensor dense = tensor.detach().cpu().contiguous();
        const auto* bytes = static_cast<const unsigned char*>(dense.const_data_ptr());
        for (std::size_t i = 0; i < dense.nbytes(); ++i)
            hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
    }
    return hash;
}

std::vector<torch::Tensor> trained_parameters(const nn::Model& model) {
    std::vector<torch::Tensor> trained;
    std::unordered_set<const c10::TensorImpl*> seen;
    for (const auto& parameter : model.parameters()) {
        if (parameter.requires_grad() && parameter.numel() > 0 &&
            seen.insert(parameter.unsafeGetTensorImpl()).second)
            trained.push_back(parameter);
    }
    return trained;
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

std::vector<torch::Tensor> state_of(const nn::Model& model) {
    auto state = model.parameters();
    for (const auto& buffer : model.buffers()) state.push_back(buffer);
    return state;
}

void broadcast_parameters(nn::Model& model, comm::Communicator& comm) {
    broadcast_tensors(state_of(model), comm);
}

std::string difference_of_ranks(const nn::Model& model, bool with_buffers,
                                comm::Communicator& control) {
    std::vector<std::string> names;
    std::vector<torch::Tensor> tensors;
    const auto add = [&](const auto& named) {
        for (const auto& item : named) {
            names.push_back(item.key());
            tensors.push_back(item.value());
        }
    };
    add(model.named_parameters());
    if (with_buffers) add(model.named_buffers());
    if (comm::is_same_everywhere(control, base::packed(hash_of(tensors)))) return "";
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const auto all = comm::gather_values(control, hash_of({tensors[i]}));
        std::vector<int> others;
        for (std::size_t rank = 1; rank < all.size(); ++rank)
            if (all[rank] != all[0]) others.push_back(static_cast<int>(rank));
        if (!others.empty())
            return fmt::format("first in '{}', on {} {} compared with rank 0", names[i],
                               others.size() == 1 ? "rank" : "ranks", base::few_ranges(others));
    }
    return "in the hash over all tensors, though no single tensor differs";
}

void take_state_of_rank_0(nn::Model& model, Optimizer& optimizer, GradScaler* scaler,
                          comm::Communicator& control) {
    broadcast_parameters(model, control);
    take_optimizer(model, optimizer, control);
    if (scaler != nullptr) scaler->load(comm::broadcast_text(control, scaler->save(), 0));
}

void BufferSync::broadcast() {
    const auto pieces = flattened_pieces(buffers_);
    for (const auto& piece : pieces) comm_.broadcast(view_of(piece), 0);
    copy_pieces(pieces, buffers_);
}

std::vector<at::Generator> default_generators(torch::Device device) {
    std::vector<at::Generator> generators{at::detail::getDefaultCPUGenerator()};
    if (!device.is_cpu()) generators.push_back(at::globalContext().defaultGenerator(device));
    return generators;
}

StateSnapshot::StateSnapshot(const nn::Model& model, std::vector<at::Generator> generators)
    : buffers_(model.buffers()), generators_(std::move(generators)) {
    for (const auto& buffer : buffers_) values_.push_back(buffer.clone());
    for (const auto& generator : generators_) states_.push_back(generator.get_state());
}

void StateSnapshot::operator()() {
    const torch::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].copy_(values_[i]);
    for (std::size_t i = 0; i < generators_.size(); ++i) generators_[i].set_state(states_[i]);
}

}  // namespace ranklab::train
