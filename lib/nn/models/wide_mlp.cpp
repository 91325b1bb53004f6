#include <torch/nn/modules/linear.h>

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
        fc1_ = register_module("fc1", torch::nn::Linear(in.channels * in.height * in.width, width));
        fc2_ = register_module("fc2", torch::nn::Linear(width, width));
        fc3_ = register_module("fc3", torch::nn::Linear(width, width));
        fc4_ = register_module("fc4", torch::nn::Linear(width, in.classes));
    }

    torch::Tensor forward(const torch::Tensor& images) override {
        auto x = fc1_->forward(images.flatten(1)).relu_();
        x = fc2_->forward(x).relu_();
        x = fc3_->forward(x).relu_();
        return torch::log_softmax(fc4_->forward(x), 1);
    }

  private:
    torch::nn::Linear fc1_{nullptr};
    torch::nn::Linear fc2_{nullptr};
    torch::nn::Linear fc3_{nullptr};
    torch::nn::Linear fc4_{nullptr};
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
