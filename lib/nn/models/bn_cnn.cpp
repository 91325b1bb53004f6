#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "nn/model.hpp"

namespace ranklab::nn {
namespace {

// The smallest network with buffers: BatchNorm's running statistics, which each rank computes from
// its own samples and which do not enter the training loss. 5,282 parameters, fast in fp64, too.
class BnCnn final : public Model {
  public:
    explicit BnCnn(const ModelConfig& config) {
        require_width(config.width, 8, "bn-cnn");
        const std::int64_t channels = 8 / config.width;
        // No bias: BatchNorm would cancel it, and its gradient would be rounding noise.
        const auto convolution = [](std::int64_t in, std::int64_t out) {
            return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).bias(false));
        };
        conv1_ = register_module("conv1", convolution(config.input.channels, channels));
        bn1_ = register_module("bn1", torch::nn::BatchNorm2d(channels));
        conv2_ = register_module("conv2", convolution(channels, 2 * channels));
        bn2_ = register_module("bn2", torch::nn::BatchNorm2d(2 * channels));
        const auto pooled = [](std::int64_t size) { return ((size - 2) / 2 - 2) / 2; };
        const std::int64_t flat =
            2 * channels * pooled(config.input.height) * pooled(config.input.width);
        fc_ = register_module("fc", torch::nn::Linear(flat, config.input.classes));
    }

    torch::Tensor forward(const torch::Tensor& images) override {
        auto x = torch::max_pool2d(bn1_->forward(conv1_->forward(images)).relu(), 2);
        x = torch::max_pool2d(bn2_->forward(conv2_->forward(x)).relu(), 2);
        return torch::log_softmax(fc_->forward(x.flatten(1)), 1);
    }

  private:
    torch::nn::Conv2d conv1_{nullptr};
    torch::nn::BatchNorm2d bn1_{nullptr};
    torch::nn::Conv2d conv2_{nullptr};
    torch::nn::BatchNorm2d bn2_{nullptr};
    torch::nn::Linear fc_{nullptr};
};

}  // namespace

ModelEntry bn_cnn_entry() {
    return {.name = "bn-cnn",
            .summary =
                "two convolutions with BatchNorm, one linear layer, 5,282 parameters; for "
                "tests of running statistics (buffers)",
            .input = {.channels = 1, .height = 28, .width = 28, .classes = 10},
            .defaults = {.data = "fashion-mnist", .optimizer = "sgd", .lr = 0.05, .batch_size = 64},
            .make = [](const ModelConfig& config) { return std::make_shared<BnCnn>(config); }};
}

}  // namespace ranklab::nn
