#include "train/traced_model.hpp"

#include <ATen/autocast_mode.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <utility>

#include "base/error.hpp"
#include "train/equal_state.hpp"

namespace ranklab::train {
namespace {

using torch::jit::Stack;

Stack inputs_of(const nn::Model& model, const torch::Tensor& input) {
    Stack inputs{input};
    for (const auto& tensor : state_of(model)) inputs.emplace_back(tensor);
    return inputs;
}

// Equal up to the rounding of reordered operations.
bool close(const torch::Tensor& a, const torch::Tensor& b) {
    const auto type = a.scalar_type();
    const double error = type == torch::kDouble ? 1e-9 : type == torch::kFloat ? 1e-3 : 2e-2;
    return type == b.scalar_type() && a.sizes() == b.sizes() &&
           torch::allclose(a, b, error, 1e-2 * error);
}

}  // namespace

struct TracedModel::Graph {
    explicit Graph(const std::shared_ptr<torch::jit::Graph>& graph) : executor(graph, "forward") {}
    torch::jit::GraphExecutor executor;
};

TracedModel::TracedModel(std::shared_ptr<nn::Model> inner) : DecoratedModel(std::move(inner)) {}

TracedModel::~TracedModel() = default;

torch::Tensor TracedModel::forward(const torch::Tensor& input) {
    if (!is_training() || !torch::GradMode::is_enabled()) return DecoratedModel::forward(input);
    Stack stack = inputs_of(*this, input);
    graph_for(input).executor.run(stack);
    return stack.front().toTensor();
}

TracedModel::Graph& TracedModel::graph_for(const torch::Tensor& input) {
    auto& graph = graphs_[input.sizes().vec()];
    if (graph) return *graph;
    const auto refuse = [](const std::string& why) {
        throw base::OptionError("this model cannot be traced (" + why + "); leave the option out",
                                {"jit"});
    };
    // Restores running statistics and generators: tracing and comparing must not affect training.
    StateSnapshot rewind(*this, default_generators(input.device()));
    std::shared_ptr<torch::jit::Graph> traced;
    torch::Tensor wanted;
    try {
        const auto [state, outputs] = torch::jit::tracer::trace(
            inputs_of(*this, input),
            [this](const Stack& inputs) {
                return Stack{inner().forward(inputs.front().toTensor())};
            },
            [](const torch::Tensor&) { return std::string(); });
        traced = state->graph;
        wanted = outputs.front().toTensor().detach();
        at::autocast::clear_cache();  // of the tracer's casts
    } catch (const c10::Error& error) {
        refuse(error.what_without_backtrace());
    }
    rewind();
    {
        // Compares in a separate executor: an executor specialises on its first runs, and this
        // comparison runs without gradients.
        const torch::NoGradGuard no_gradients;
        Stack stack = inputs_of(*this, input);
        torch::jit::GraphExecutor(traced->copy(), "comparison").run(stack);
        rewind();
        if (!close(stack.front().toTensor(), wanted)) refuse("its graph gives another output");
    }
    graph = std::make_unique<Graph>(traced);
    return *graph;
}

}  // namespace ranklab::train
