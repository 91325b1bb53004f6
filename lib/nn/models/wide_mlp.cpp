#include <torch/nn/modules/linear.h>

#include <array>
#include <string>
#include <vector>

#include "nn/model.hpp"

namespace ranklab::nn {
namespace {

// A network whose communication is a large share of the step: 36,818,954 parameters, 147 MB of fp32
// gradients, and little compute for a small batch.
class WideMlp final : public Model {
  public:
    explicit WideMlp(const ModelConfig& config) {
        require_width(config.width, 4096, "wide-mlp");
        const std::int64_t width = 4096 / config.width;
        const auto& in = config.input;
        const std::array sizes{in.channels * in.height * in.width, width, width, width, in.classes};
        for (std::size_t i = 1; i < sizes.size(); ++i)
            layers_.push_back(register_module("fc" + std::to_string(i),
                                              torch::nn::Linear(sizes[i - 1], sizes[i])));
    }

    torch::Tensor forward(const torch::Tensor& images) override {
        auto x = layers_.front()->forward(images.flatten(1));
        for (std::size_t i = 1; i < layers_.size(); ++i) x = layers_[i]->forward(x.relu_());
        return torch::log_softmax(x, 1);
    }

  private:
    std::vector<torch::nn::Linear> layers_;
};

}  // namespace

ModelEntry wide_mlp_entry() {
    return {.name = "wide-mlp",
            .summary =
                "four linear layers, 36,818,954 parameters: much to communicate, little to compute",
            .input = {.channels = 1, .height = 28, .width = 28, .classes = 10},
            .defaults = {.data = "synthetic", .optimizer = "sgd", .lr = 0.01, .batch_size = 32},
            .make = [](const ModelConfig& config) { return std::make_shared<WideMlp>(config); }};
}

}  // namespace ranklab::nn
