#include "train/equal_state.hpp"

#include <algorithm>

#include "comm/exchange.hpp"
#include "train/tensor_view.hpp"
#include "train/trainer.hpp"

namespace ranklab::train {
namespace {

std::vector<std::uint8_t> presence_of(const std::vector<OptimizerState>& state) {
    std::vector<std::uint8_t> there;
    for (const auto& kind : state) {
        for (const auto& tensor : kind.tensors) there.push_back(tensor.defined() ? 1 : 0);
    }
    return there;
}

// What is missing here and there on rank 0 is made; its values come by the broadcast. Only what has the shape
// of its parameter may be missing.
void take_presence(std::vector<OptimizerState>& state, const std::vector<std::uint8_t>& wanted,
                   const std::vector<torch::Tensor>& parameters) {
    auto is_wanted = wanted.begin();
    for (auto& kind : state) {
        for (std::size_t i = 0; i < kind.tensors.size(); ++i, ++is_wanted) {
            if (*is_wanted == 0)
                kind.tensors[i] = torch::Tensor();
            else if (!kind.tensors[i].defined())
                kind.tensors[i] = torch::zeros_like(parameters[i]).detach();
        }
    }
}

void take_optimizer(const nn::Model& model, Optimizer& optimizer, comm::Communicator& control) {
    auto state = optimizer.state();
    const auto mine = presence_of(state);
    auto wanted = mine;
    control.broadcast(comm::view(std::span(wanted)), 0);
    if (wanted != mine) {
        take_presence(state, wanted, trained_parameters(model));
        optimizer.load_state(state);
        state = optimizer.state();
    }
    std::vector<torch::Tensor> tensors;
    for (const auto& kind : state) {
        std::copy_if(kind.tensors.begin(), kind.tensors.end(), std::back_inserter(tensors),
                     [](const torch::Tensor& tensor) { return tensor.defined(); });
    }
    broadcast_tensors(tensors, control);
}

}  // namespace

void take_state_of_rank_0(nn::Model& model, Optimizer& optimizer, GradScaler* scaler,
                          comm::Communicator& control) {
    broadcast_parameters(model, control);
    take_optimizer(model, optimizer, control);
    if (scaler != nullptr) scaler->load(comm::broadcast_text(control, scaler->save(), 0));
}

}  // namespace ranklab::train
