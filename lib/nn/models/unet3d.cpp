#include <fmt/format.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/conv.h>

#include "base/error.hpp"
#include "nn/model.hpp"

namespace ranklab::nn {
namespace {

using torch::nn::Conv3d;
using torch::nn::ConvTranspose3d;

// With stride 2 and padding 1 a convolution of this size exactly halves or doubles the edges.
constexpr std::int64_t kKernel = 4;

Conv3d halving(std::int64_t in, std::int64_t out) {
    return Conv3d(torch::nn::Conv3dOptions(in, out, kKernel).stride(2).padding(1));
}

ConvTranspose3d doubling(std::int64_t in, std::int64_t out) {
    return ConvTranspose3d(
        torch::nn::ConvTranspose3dOptions(in, out, kKernel).stride(2).padding(1));
}

void check_input(const ModelConfig& config) {
    const auto& in = config.input;
    const std::int64_t multiple = config.full_scale ? 64 : 32;
    for (const std::int64_t edge : {in.depth, in.height, in.width}) {
        if (edge >= multiple && edge % multiple == 0) continue;
        throw base::OptionError(
            fmt::format(
                "unet3d halves a volume's edges {} times, but one edge is {}; use crops whose edge "
                "is a multiple of {}",
                config.full_scale ? 6 : 5, edge, multiple),
            {"crop-edge"});
    }
}

// The 3D U-Net that predicts gas (temperature, density ...) from dark matter (Harrington et al.,
// arXiv:2106.12662), as in the NERSC tutorial: 116,977,029 parameters, no BatchNorm. Each layer of
// the encoder halves the edges; each layer of the decoder doubles them. A decoder layer's input is
// [output of the decoder layer before it, output of the encoder layer of equal size].
class UNet3d final : public Model {
  public:
    explicit UNet3d(const ModelConfig& config)
        : full_scale_(config.full_scale), lambda_rho_(config.lambda_rho) {
        const std::int64_t c = 64 / config.width;
        const auto down = [this](const char* name, std::int64_t in, std::int64_t out) {
            down_.push_back(register_module(name, halving(in, out)));
        };
        down("down1", config.input.channels, c);
        down("down2", c, 2 * c);
        down("down3", 2 * c, 4 * c);
        down("down4", 4 * c, 8 * c);
        down("down5", 8 * c, 8 * c);
        if (full_scale_) down("down6", 8 * c, 8 * c);
        const auto up = [this](const char* name, std::int64_t in, std::int64_t out) {
            up_.push_back(register_module(name, doubling(in, out)));
        };
        if (full_scale_) up("up6", 8 * c, 8 * c);
        up("up5", full_scale_ ? 16 * c : 8 * c, 8 * c);
        up("up4", 16 * c, 4 * c);
        up("up3", 8 * c, 2 * c);
        up("up2", 4 * c, c);
        up("conv_last", 2 * c, config.input.target_channels);
        initialise();
    }

    torch::Tensor forward(const torch::Tensor& volumes) override {
        std::vector<torch::Tensor> on_the_way_down;
        auto x = volumes;
        for (auto& layer : down_) {
            // In place, since a convolution does not need its output in backward.
            x = layer->forward(x);
            torch::leaky_relu_(x, 0.01);
            on_the_way_down.push_back(x);
        }
        on_the_way_down.pop_back();  // the innermost layer's output has no partner
        for (std::size_t i = 0; i + 1 < up_.size(); ++i) {
            x = torch::cat({up_[i]->forward(x).relu_(), on_the_way_down.back()}, 1);
            on_the_way_down.pop_back();
        }
        return up_.back()->forward(x).tanh_();
    }

    // The L1 loss of all channels, plus lambda_rho times the L1 loss of exp(14 x) for channel 0,
    // the density x, which gives weight to its peaks.
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        namespace F = torch::nn::functional;
        auto loss = F::l1_loss(output, targets);
        if (lambda_rho_ == 0) return loss;
        const auto peaks = [](const torch::Tensor& field) {
            return (14 * field.select(1, 0)).exp();
        };
        return loss + lambda_rho_ * F::l1_loss(peaks(output), peaks(targets));
    }

  private:
    // Draws weights anew, child by child in the order of registration, as the tutorial's
    // apply(weights_init) does. A seed gives the tutorial's weights only because the constructors
    // have drawn default weights before.
    void initialise() {
        for (const auto& module : children()) {
            auto parameters = module->named_parameters(/*recurse=*/false);
            torch::nn::init::normal_(parameters["weight"], 0.0, 0.02);
            torch::nn::init::zeros_(parameters["bias"]);
        }
    }

    bool full_scale_;
    double lambda_rho_;
    std::vector<Conv3d> down_;
    std::vector<ConvTranspose3d> up_;  // the last: conv_last
};

}  // namespace

ModelEntry unet3d_entry() {
    return {.name = "unet3d",
            .summary = "3D U-Net from dark matter to gas on 64^3 crops, 116,977,029 parameters",
            .input = {.channels = 4, .height = 64, .width = 64, .depth = 64, .target_channels = 5},
            .defaults = {.data = "cosmology",
                         .optimizer = "adam",
                         .lr = 2e-4,
                         .lr_schedule = "cosine",
                         .batch_size = 32,
                         .workers = 2,
                         .lr_scaling = "sqrt",
                         .base_batch = 32,
                         .lr_warmup_steps = 128,
                         .channels_last = true},
            .make = [](const ModelConfig& config) -> std::shared_ptr<Model> {
                require_width(config.width, 64, "unet3d");
                check_input(config);
                return std::make_shared<UNet3d>(config);
            }};
}

}  // namespace ranklab::nn
