// A template: to add a model, copy this file and add its name to ENTRIES in lib/nn/CMakeLists.txt.
// It is a working model (softmax regression), which the contract tests cover and `--model
// template-softmax` offers. tests/contract/template_tokens.cpp is the template for tokens.
#include <torch/nn/modules/linear.h>

#include "nn/model.hpp"

namespace ranklab::nn {
namespace {

class TemplateSoftmax final : public Model {
  public:
    // 1. Register every module: an unregistered one is not trained, synchronised or counted.
    explicit TemplateSoftmax(const ModelConfig& config) {
        const auto& in = config.input;
        linear_ = register_module(
            "linear", torch::nn::Linear(in.channels * in.height * in.width, in.classes));
    }

    // 2. Map images [N, channels, height, width] to log-probabilities [N, classes]. If the output
    // is anything else, override loss(), too.
    torch::Tensor forward(const torch::Tensor& images) override {
        return torch::log_softmax(linear_->forward(images.flatten(1)), 1);
    }

  private:
    torch::nn::Linear linear_{nullptr};
};

}  // namespace

// 3. Name the function as the file + _entry. `--data synthetic` makes samples of the input's shape.
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
