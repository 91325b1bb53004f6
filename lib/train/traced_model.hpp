// A model's training forward as an optimised TorchScript graph (--jit).
#pragma once

#include <ATen/core/Generator.h>

#include <map>
#include <memory>
#include <vector>

#include "nn/model.hpp"
#include "train/precision.hpp"

namespace ranklab::train {

/// Traces forward in training mode once per input shape (LibTorch's C++ tracer). TorchScript's
/// executor then runs the graph; after two profiling runs it merges the parts that it can
/// differentiate into single autograd nodes. Parameters and buffers are inputs of the graph, so
/// that the model's own parameters get gradients, hooks fire, and running statistics are updated.
/// In evaluation mode, or without gradients, the inner model computes.
///
/// A trace cannot hold ranklab's operations; LibTorch's take their place (nn/ops). A trace freezes
/// decisions and control flow, so each graph is compared with the model once, with the same random
/// numbers, before its first use.
class TracedModel final : public DecoratedModel {
  public:
    explicit TracedModel(std::shared_ptr<nn::Model> inner);
    ~TracedModel() override;

    /// Throws OptionError if the model cannot be traced, or if the graph's output differs.
    torch::Tensor forward(const torch::Tensor& input) override;

  private:
    struct Graph;
    Graph& graph_for(const torch::Tensor& input);

    std::map<std::vector<std::int64_t>, std::unique_ptr<Graph>> graphs_;  // by input sizes
};

}  // namespace ranklab::train
