// The published networks: their size, work, shapes, and what they refuse. That they compute what
// PyTorch's do is the affair of tests/oracle/model_oracle_test.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.hpp"
#include "nn/model.hpp"
#include "nn/outline.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::nn {
namespace {

using ::testing::HasSubstr;

ModelEntry named(const std::string& name) {
    for (const auto& entry : models()) {
        if (entry.name == name) return entry;
    }
    throw base::Error("no model " + name);
}

ModelConfig images(std::int64_t height, std::int64_t width, std::int64_t divisor = 16) {
    return {.input = {.channels = 3, .height = height, .width = width, .classes = 100},
            .width = divisor};
}

ModelConfig volume(std::int64_t depth, std::int64_t height, std::int64_t width,
                   bool full_scale = true) {
    return {.input = {.channels = 4,
                      .height = height,
                      .width = width,
                      .depth = depth,
                      .target_channels = 5},
            .width = 32,
            .full_scale = full_scale};
}

std::string refusal(const std::string& name, const ModelConfig& config) {
    return tests::thrown_sentence<base::OptionError>([&] { named(name).make(config); });
}

std::vector<std::int64_t> sizes_of(const Model& model, const std::string& parameter) {
    return model.named_parameters()[parameter].sizes().vec();
}

double giga_macs(const std::string& name) {
    const auto entry = named(name);
    return static_cast<double>(outline_of(entry, {.input = entry.input}).forward_flops) / 2e9;
}

// torchvision's pages give them, for 1000 classes: 900 more than here.
TEST(Flops, OfTheResNetsAreThePublishedOnes) {
    EXPECT_NEAR(giga_macs("resnet18") + 900 * 512e-9, 1.814, 0.0005);
    EXPECT_NEAR(giga_macs("resnet50") + 900 * 2048e-9, 4.089, 0.0005);
    EXPECT_NEAR(giga_macs("resnet152") + 900 * 2048e-9, 11.514, 0.0005);
}

TEST(Flops, OfTheMnistCnnByHand) {
    const auto entry = named("mnist-cnn");
    const std::int64_t macs = 26 * 26 * 32 * 9 + 24 * 24 * 64 * 32 * 9 + 9216 * 128 + 128 * 10;
    EXPECT_EQ(outline_of(entry, {.input = entry.input}).forward_flops, 2 * macs);
}

// Each layer: channels in x out x 64 of the kernel x the places of its smaller side.
TEST(Flops, OfTheUNetByHand) {
    const auto entry = named("unet3d");
    const auto cube = [](std::int64_t edge) { return edge * edge * edge; };
    const std::int64_t outer = 4 * 64 * cube(32) + 64 * 128 * cube(16) + 128 * 256 * cube(8) +
                               256 * 512 * cube(4) + 512 * 512 * cube(2) + 1024 * 256 * cube(4) +
                               512 * 128 * cube(8) + 256 * 64 * cube(16) + 128 * 5 * cube(32);
    const std::int64_t inner = 512 * 512 + 512 * 512 + 1024 * 512 * cube(2);
    const auto full = outline_of(entry, {.input = entry.input});
    EXPECT_EQ(full.forward_flops, 2 * 64 * (outer + inner));
    EXPECT_NEAR(static_cast<double>(full.forward_flops), 27.18e9, 0.005e9);
    const auto less = outline_of(entry, {.input = entry.input, .full_scale = false});
    EXPECT_EQ(less.forward_flops, 2 * 64 * (outer + 512 * 512 * cube(2)));
    EXPECT_EQ(less.parameters, 66644357);
}

TEST(ResNet, HasTorchvisionsNames) {
    const auto model = named("resnet50").make(images(64, 64));
    const auto names = model->named_parameters().keys();
    EXPECT_THAT(names, ::testing::IsSupersetOf({"conv1.weight", "bn1.bias", "layer1.0.conv3.weight",
                                                "layer1.0.downsample.0.weight",
                                                "layer1.0.downsample.1.bias", "layer3.5.bn3.weight",
                                                "fc.bias"}));
    EXPECT_EQ(names.size(), 161U);
    EXPECT_EQ(model->named_buffers().size(), 159U);
}

TEST(ResNet, IsMadeNarrower) {
    const auto basic = named("resnet18").make(images(64, 64, 4));
    EXPECT_EQ(sizes_of(*basic, "conv1.weight"), (std::vector<std::int64_t>{16, 3, 7, 7}));
    EXPECT_EQ(sizes_of(*basic, "layer4.1.conv2.weight"),
              (std::vector<std::int64_t>{128, 128, 3, 3}));
    EXPECT_EQ(sizes_of(*basic, "fc.weight"), (std::vector<std::int64_t>{100, 128}));
    const auto bottleneck = named("resnet50").make(images(64, 64, 64));
    EXPECT_EQ(sizes_of(*bottleneck, "layer1.0.conv3.weight"),
              (std::vector<std::int64_t>{4, 1, 1, 1}));
    EXPECT_EQ(sizes_of(*bottleneck, "layer4.2.conv2.weight"),
              (std::vector<std::int64_t>{8, 8, 3, 3}));
    EXPECT_EQ(sizes_of(*bottleneck, "fc.weight"), (std::vector<std::int64_t>{100, 32}));
}

TEST(ResNet, TakesImagesOfAnySize) {
    const torch::NoGradGuard no_gradients;
    for (const auto& [height, width] : {std::pair{32, 32}, {33, 95}, {28, 28}}) {
        const auto model = named("resnet18").make(images(height, width));
        EXPECT_EQ(model->forward(torch::randn({2, 3, height, width})).sizes(),
                  (std::vector<std::int64_t>{2, 100}));
    }
}

TEST(ResNet, NeedsTwoSmallImagesOrALargerOne) {
    EXPECT_ANY_THROW(named("resnet18").make(images(32, 32))->forward(torch::randn({1, 3, 32, 32})));
    const auto larger = named("resnet18").make(images(32, 33));
    EXPECT_NO_THROW(larger->forward(torch::randn({1, 3, 32, 33})));
}

TEST(UNet3d, BeginsAsPublished) {
    torch::manual_seed(3);
    auto config = volume(64, 64, 64);
    config.width = 8;
    for (const auto& item : named("unet3d").make(config)->named_parameters()) {
        if (item.key().find("bias") != std::string::npos) {
            EXPECT_EQ(item.value().abs().max().item<double>(), 0) << item.key();
        } else {
            EXPECT_NEAR(item.value().std().item<double>(), 0.02, 0.001) << item.key();
            EXPECT_NEAR(item.value().mean().item<double>(), 0, 0.001) << item.key();
        }
    }
}

TEST(UNet3d, TakesVolumesWhoseEdgesHalveEvenly) {
    const torch::NoGradGuard no_gradients;
    const auto output_sizes = [](const ModelConfig& config) {
        auto sizes = config.input.input_sizes();
        sizes.insert(sizes.begin(), 2);
        return named("unet3d").make(config)->forward(torch::randn(sizes)).sizes().vec();
    };
    EXPECT_EQ(output_sizes(volume(128, 64, 64)), (std::vector<std::int64_t>{2, 5, 128, 64, 64}));
    EXPECT_EQ(output_sizes(volume(32, 64, 96, false)),
              (std::vector<std::int64_t>{2, 5, 32, 64, 96}));
    EXPECT_THAT(refusal("unet3d", volume(64, 96, 64)), HasSubstr("6 times, but one edge is 96"));
    EXPECT_THAT(refusal("unet3d", volume(64, 64, 48, false)),
                HasSubstr("5 times, but one edge is 48"));
    EXPECT_THAT(refusal("unet3d", volume(64, 64, 0)), HasSubstr("multiple of 64"));
}

TEST(UNet3d, WeighsTheDensitysPeaksInItsLoss) {
    auto config = volume(64, 64, 64);
    const auto plain = named("unet3d").make(config);
    config.lambda_rho = 0.25;
    const auto weighed = named("unet3d").make(config);
    // Channel 0 alone is 0.1 off, then channel 3 alone.
    const auto target = torch::zeros({2, 5, 2, 2, 2}, torch::kDouble);
    auto density = target.clone();
    density.select(1, 0).fill_(0.1);
    auto other = target.clone();
    other.select(1, 3).fill_(0.1);
    const auto loss = [&](const auto& model, const torch::Tensor& output) {
        return model->loss(output, target).template item<double>();
    };
    EXPECT_NEAR(loss(plain, density), 0.02, 1e-15);
    EXPECT_NEAR(loss(plain, other), 0.02, 1e-15);
    EXPECT_NEAR(loss(weighed, density), 0.02 + 0.25 * (std::exp(1.4) - 1), 1e-14);
    EXPECT_NEAR(loss(weighed, other), 0.02, 1e-15);
}

TEST(Networks, RefuseAWidthThatDoesNotDivide) {
    EXPECT_THAT(refusal("resnet50", images(64, 64, 3)), HasSubstr("use 2 or 4 (--width)"));
    EXPECT_THAT(refusal("resnet18", images(64, 64, 128)), HasSubstr("use 64"));
    EXPECT_THAT(refusal("resnet18", images(64, 64, 0)), HasSubstr("use 1"));
    auto config = volume(64, 64, 64);
    config.width = 24;
    EXPECT_THAT(refusal("unet3d", config), HasSubstr("use 16 or 32"));
    EXPECT_THAT(refusal("mnist-cnn", images(28, 28, 5)),
                HasSubstr("the 32 channels of mnist-cnn; use 4 or 8"));
}

// --ops: a training forward with dropout from one state of the generator, to the bit.
TEST(Ops, GiveOneLossAndOneGradient) {
    const auto entry = named("mnist-cnn");
    const auto gradients = [&entry](Ops ops) {
        torch::manual_seed(4);
        const auto model = entry.make({.input = entry.input, .ops = ops});
        const auto loss =
            model->loss(model->forward(torch::randn({6, 1, 28, 28})), torch::arange(6));
        loss.backward();
        std::vector<torch::Tensor> all{loss.detach()};
        for (const auto& parameter : model->parameters()) all.push_back(parameter.grad());
        return all;
    };
    const auto ours = gradients(Ops::ranklab);
    const auto torchs = gradients(Ops::libtorch);
    for (std::size_t i = 0; i < ours.size(); ++i)
        EXPECT_TRUE(torch::equal(ours[i], torchs[i])) << i;
}

TEST(Outline, KnowsWhetherAModelConvolves) {
    const auto convolves = [](const std::string& name) {
        const auto entry = named(name);
        return outline_of(entry, {.input = entry.input}).convolves;
    };
    EXPECT_TRUE(convolves("mnist-cnn"));
    EXPECT_TRUE(convolves("unet3d"));
    EXPECT_FALSE(convolves("wide-mlp"));
}

}  // namespace
}  // namespace ranklab::nn
