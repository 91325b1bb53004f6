// The residual networks of He et al. (arXiv:1512.03385), with torchvision 0.26's names, order of
// construction and initialisation, so that a seed gives torchvision's weights. Takes images of any
// size, since the five halvings round up; for images of at most 32 x 32 the last stage has one
// value per channel, so that training needs two images.
#include <fmt/format.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <array>

#include "nn/model.hpp"

namespace ranklab::nn {
namespace {

using torch::nn::BatchNorm2d;
using torch::nn::Conv2d;

// Without bias, since the BatchNorm after the convolution has one.
Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                   std::int64_t stride = 1) {
    return Conv2d(
        torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

// A residual block: convolutions, each with BatchNorm, plus the block's input, through `shortcut`
// if the shape changes.
class Block final : public torch::nn::Module {
  public:
    Block(const std::vector<Conv2d>& convolutions, torch::nn::Sequential shortcut) {
        for (const auto& conv : convolutions) {
            const auto number = convolutions_.size() + 1;
            convolutions_.push_back(register_module(fmt::format("conv{}", number), conv));
            norms_.push_back(register_module(fmt::format("bn{}", number),
                                             BatchNorm2d(conv->options.out_channels())));
        }
        if (!shortcut.is_empty()) shortcut_ = register_module("downsample", shortcut);
    }

    // In place where autograd allows it: for backward BatchNorm needs its input, ReLU its output.
    torch::Tensor forward(const torch::Tensor& x) {
        auto y = x;
        for (std::size_t i = 0; i < convolutions_.size(); ++i) {
            y = norms_[i]->forward(convolutions_[i]->forward(y));
            if (i + 1 < convolutions_.size()) y.relu_();
        }
        y.add_(shortcut_.is_empty() ? x : shortcut_->forward(x));
        return y.relu_();
    }

  private:
    std::vector<Conv2d> convolutions_;
    std::vector<BatchNorm2d> norms_;
    torch::nn::Sequential shortcut_{nullptr};
};

// `bottleneck`: 1x1, 3x3 and 1x1, the last with 4 x the channels ("v1.5": the 3x3 has the stride);
// otherwise two 3x3 convolutions.
std::vector<Conv2d> block_convolutions(bool bottleneck, std::int64_t in, std::int64_t channels,
                                       std::int64_t stride) {
    if (!bottleneck)
        return {convolution(in, channels, 3, stride), convolution(channels, channels, 3)};
    return {convolution(in, channels, 1), convolution(channels, channels, 3, stride),
            convolution(channels, 4 * channels, 1)};
}

struct Layout {
    const char* name;
    const char* summary;
    bool bottleneck;
    std::array<std::int64_t, 4> blocks;  // per stage of 64, 128, 256, 512 channels
};
constexpr Layout kLayouts[] = {
    {"resnet18",
     "ResNet-18 of basic blocks for 100 classes, 11,227,812 parameters (torchvision's)",
     false,
     {2, 2, 2, 2}},
    {"resnet50",
     "ResNet-50 v1.5 for 100 classes, 23,712,932 parameters (torchvision's)",
     true,
     {3, 4, 6, 3}},
    {"resnet152",
     "ResNet-152 v1.5 for 100 classes, 58,348,708 parameters (torchvision's)",
     true,
     {3, 8, 36, 3}}};

class ResNet final : public Model {
  public:
    ResNet(const ModelConfig& config, const Layout& layout) : bottleneck_(layout.bottleneck) {
        std::int64_t channels = 64 / config.width;
        conv1_ = register_module("conv1",
                                 Conv2d(torch::nn::Conv2dOptions(config.input.channels, channels, 7)
                                            .stride(2)
                                            .padding(3)
                                            .bias(false)));
        bn1_ = register_module("bn1", BatchNorm2d(channels));
        std::int64_t in = channels;
        for (std::size_t stage = 0; stage < 4; ++stage, channels *= 2) {
            stages_[stage] =
                register_module(fmt::format("layer{}", stage + 1),
                                make_stage(in, channels, layout.blocks[stage], stage == 0 ? 1 : 2));
        }
        fc_ = register_module("fc", torch::nn::Linear(in, config.input.classes));
        initialise();
    }

    torch::Tensor forward(const torch::Tensor& images) override {
        auto x = bn1_->forward(conv1_->forward(images)).relu_();
        x = torch::max_pool2d(x, 3, 2, 1);
        for (auto& stage : stages_) x = stage->forward(x);
        return fc_->forward(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
    }

    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        return torch::nn::functional::cross_entropy(output, targets);
    }

  private:
    // `in`: input channels; set to the output channels.
    torch::nn::Sequential make_stage(std::int64_t& in, std::int64_t channels, std::int64_t blocks,
                                     std::int64_t stride) const {
        const std::int64_t out = bottleneck_ ? 4 * channels : channels;
        torch::nn::Sequential stage;
        for (std::int64_t block = 0; block < blocks; ++block, stride = 1, in = out) {
            torch::nn::Sequential shortcut{nullptr};
            if (stride != 1 || in != out)
                shortcut = torch::nn::Sequential(convolution(in, out, 1, stride), BatchNorm2d(out));
            stage->push_back(std::make_shared<Block>(
                block_convolutions(bottleneck_, in, channels, stride), shortcut));
        }
        return stage;
    }

    // Draws the convolutions' weights anew, as torchvision does, so that a seed gives torchvision's
    // weights. BatchNorm's weights are 1 and its biases 0.
    void initialise() {
        for (const auto& module : modules(/*include_self=*/false)) {
            if (const auto* conv = module->as<torch::nn::Conv2dImpl>())
                torch::nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
        }
    }

    bool bottleneck_;
    Conv2d conv1_{nullptr};
    BatchNorm2d bn1_{nullptr};
    std::array<torch::nn::Sequential, 4> stages_{nullptr, nullptr, nullptr, nullptr};
    torch::nn::Linear fc_{nullptr};
};

}  // namespace

std::vector<ModelEntry> resnet_entries() {
    std::vector<ModelEntry> entries;
    for (const auto& layout : kLayouts)
        entries.push_back({.name = layout.name,
                           .summary = layout.summary,
                           .input = {.channels = 3, .height = 224, .width = 224, .classes = 100},
                           .defaults = {.data = "cifar100",
                                        .optimizer = "sgd",
                                        .lr = 0.01,
                                        .batch_size = 64,
                                        .momentum = 0.9,
                                        .workers = 4,
                                        .channels_last = true},
                           .make = [&layout](const ModelConfig& config) -> std::shared_ptr<Model> {
                               require_width(config.width, 64, layout.name);
                               return std::make_shared<ResNet>(config, layout);
                           }});
    return entries;
}

}  // namespace ranklab::nn
