#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "nn/model.hpp"
#include "nn/ops/ops.hpp"

namespace ranklab::nn {
namespace {

// The network of PyTorch's basic MNIST example: 1,199,882 parameters, PyTorch's default
// initialisation. Registers the modules in the example's order, so that a seed gives the example's
// weights.
class MnistCnn final : public Model {
  public:
    explicit MnistCnn(const ModelConfig& config) : dropout_(config.dropout), ops_(config.ops) {
        require_width(config.width, 32, "mnist-cnn");
        const std::int64_t channels = 32 / config.width;
        conv1_ = register_module("conv1", torch::nn::Conv2d(config.input.channels, channels, 3));
        conv2_ = register_module("conv2", torch::nn::Conv2d(channels, 2 * channels, 3));
        const std::int64_t flat =
            2 * channels * ((config.input.height - 4) / 2) * ((config.input.width - 4) / 2);
        fc1_ = register_module("fc1", torch::nn::Linear(flat, 4 * channels));
        fc2_ = register_module("fc2", torch::nn::Linear(4 * channels, config.input.classes));
    }

    torch::Tensor forward(const torch::Tensor& images) override {
        // ReLU in place, since convolutions do not need their output in backward.
        auto x = conv1_->forward(images).relu_();
        x = relu_max_pool_2x2(conv2_->forward(x), ops_);
        const bool drops = dropout_ && is_training();
        x = fast_dropout(x, 0.25, drops, ops_).flatten(1);
        x = fc1_->forward(x).relu_();
        x = fc2_->forward(fast_dropout(x, 0.5, drops, ops_));
        return torch::log_softmax(x, 1);
    }

  private:
    bool dropout_;
    Ops ops_;
    torch::nn::Conv2d conv1_{nullptr};
    torch::nn::Conv2d conv2_{nullptr};
    torch::nn::Linear fc1_{nullptr};
    torch::nn::Linear fc2_{nullptr};
};

}  // namespace

ModelEntry mnist_cnn_entry() {
    return {
        .name = "mnist-cnn",
        .summary =
            "two convolutions, two linear layers, 1,199,882 parameters (PyTorch's MNIST example)",
        .input = {.channels = 1, .height = 28, .width = 28, .classes = 10},
        .defaults = {.data = "fashion-mnist",
                     .optimizer = "adadelta",
                     .lr = 1.0,
                     .lr_schedule = "step",
                     .gamma = 0.7,
                     .batch_size = 64},
        .make = [](const ModelConfig& config) { return std::make_shared<MnistCnn>(config); }};
}

}  // namespace ranklab::nn
