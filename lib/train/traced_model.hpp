// A model's training forward pass as an optimised graph of TorchScript instead of one operation
// after another.
#pragma once

#include <ATen/core/Generator.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nn/model.hpp"
#include "train/precision.hpp"

namespace ranklab::train {

/// Forward in training mode is traced once for each shape of the input (LibTorch's C++ tracer), and
/// the graph is run by TorchScript's executor from then on: it sees two runs and then merges what
/// it can differentiate by itself into one node of autograd. Parameters and buffers are inputs of
/// the graph, so that gradients reach the model's own parameters, hooks fire, and running
/// statistics move. In evaluation mode, or without gradients, the inner model computes.
///
/// A trace knows operations of LibTorch, not ours: while it is made LibTorch's are used (nn/ops).
/// Decisions by values or control flow are frozen into it, so each graph is compared with the model
/// once, from the same random numbers, before it is used.
class TracedModel final : public DecoratedModel {
  public:
    explicit TracedModel(std::shared_ptr<nn::Model> inner);
    ~TracedModel() override;

    /// OptionError where the model cannot be traced or its graph computes something else.
    torch::Tensor forward(const torch::Tensor& input) override;

  private:
    struct Graph;
    Graph& graph_for(const torch::Tensor& input);

    std::map<std::vector<std::int64_t>, std::unique_ptr<Graph>> graphs_;  // by the input's sizes
};

}  // namespace ranklab::train
