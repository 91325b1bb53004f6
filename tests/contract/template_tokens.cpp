// A template: to add a token network, copy this file to lib/nn/models and add its name to ENTRIES
// in lib/nn/CMakeLists.txt. The contract tests run it beside the catalogue's models.
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include "nn/model.hpp"

namespace ranklab::nn {
namespace {

class TemplateTokens final : public Model {
  public:
    // 1. The vocabulary's size is input.classes: tokens and targets are below it.
    explicit TemplateTokens(const ModelConfig& config) {
        constexpr std::int64_t kChannels = 64;
        require_width(config.width, kChannels, "template-tokens");
        const std::int64_t channels = kChannels / config.width;
        const std::int64_t vocabulary = config.input.classes;
        embedding_ = register_module("embedding", torch::nn::Embedding(vocabulary, channels));
        linear_ = register_module("linear", torch::nn::Linear(channels, vocabulary));
    }

    // 2. Map tokens [N, length], int64, to log-probabilities [N, vocabulary, length].
    torch::Tensor forward(const torch::Tensor& tokens) override {
        const auto scores = linear_->forward(embedding_->forward(tokens));
        return torch::log_softmax(scores, 2).transpose(1, 2);
    }

  private:
    torch::nn::Embedding embedding_{nullptr};
    torch::nn::Linear linear_{nullptr};
};

}  // namespace

// 3. The fields `own` and `own_target` say what a sample is: here 128 tokens, and a token to
// predict for each. `--data synthetic` makes such samples.
ModelEntry template_tokens_entry() {
    const base::Field tokens{base::Element::i64, {128}};
    return {
        .name = "template-tokens",
        .summary = "an embedding and a linear layer: the template for a token network",
        .input = {.classes = 256, .own = {tokens}, .own_target = tokens},
        .defaults = {.data = "synthetic", .optimizer = "sgd", .lr = 0.1, .batch_size = 16},
        .make = [](const ModelConfig& config) { return std::make_shared<TemplateTokens>(config); }};
}

}  // namespace ranklab::nn
