// A template: copy this file to add a model, and put its name into ENTRIES in
// lib/nn/CMakeLists.txt. It is a real model (softmax regression), compiled, tested by the contract
// tests and offered as `--model template-softmax`, so that it stays valid.
#include <torch/nn/modules/linear.h>

#include "nn/model.hpp"

namespace ranklab::nn {
namespace {

class TemplateSoftmax final : public Model {
  public:
    // 1. Register every module: an unregistered one is not trained, not synchronised and not
    // counted.
    explicit TemplateSoftmax(const ModelConfig& config) {
        const auto& in = config.input;
        linear_ = register_module(
            "linear", torch::nn::Linear(in.channels * in.height * in.width, in.classes));
    }

    // 2. Map images [N, channels, height, width] to log-probabilities [N, classes]. For other
    // scores, or for a field of values, override loss() too.
    torch::Tensor forward(const torch::Tensor& images) override {
        return torch::log_softmax(linear_->forward(images.flatten(1)), 1);
    }

  private:
    torch::nn::Linear linear_{nullptr};
};

}  // namespace

// 3. The function's name is the file's name + _entry. The input's shape defines what `--data
// synthetic` makes.
ModelEntry template_softmax_entry() {
    return {.name = "template-softmax",
            .summary = "softmax regression: the template to copy when adding a model",
            .input = {.channels = 1, .height = 28, .width = 28, .classes = 10},
            .defaults = {.data = "synthetic", .optimizer = "sgd", .lr = 0.05, .batch_size = 64},
            .make = [](const ModelConfig& config) {
                return std::make_shared<TemplateSoftmax>(config);
            }};
}

}  // namespace ranklab::nn
