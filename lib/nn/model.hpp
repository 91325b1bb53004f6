// A model: the network, its loss, its input and its defaults. Knows no ranks, files or options.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/element.hpp"
#include "nn/ops/ops.hpp"

namespace ranklab::nn {

/// The shape of one sample and its target. An image or volume has channels and extents, and as
/// target a class or, if target_channels > 0, values on the same extents.
struct InputShape {
    std::int64_t channels = 1;
    std::int64_t height = 1;
    std::int64_t width = 1;
    std::int64_t classes = 0;
    std::int64_t depth = 0;  ///< of a volume; 0: an image
    std::int64_t target_channels = 0;
    /// If not empty, `own` and `own_target` replace channels and extents, for a user's own network
    /// or for tokens ({i64, {sequence length}}). An i64 target holds classes.
    std::vector<base::Field> own = {};
    base::Field own_target = {};
    std::vector<torch::Dtype> own_types = {};  ///< in which the network takes i64 inputs

    bool is_own() const { return !own.empty(); }
    bool is_volume() const { return depth > 0; }
    bool classifies() const {
        return is_own() ? own_target.element == base::Element::i64 : target_channels == 0;
    }
    /// [channels, height, width] or [channels, depth, height, width]; or the sizes of `own`, packed
    /// if there are several.
    std::vector<std::int64_t> input_sizes() const {
        return is_own() ? base::packed(own).sizes : sizes(channels);
    }
    /// The edge of an image or volume, or the length of a sequence of tokens.
    std::int64_t usual_size() const { return is_tokens() ? own.front().sizes.front() : height; }
    /// Whether a sample is a sequence of tokens with a token to predict for each.
    bool is_tokens() const {
        return own.size() == 1 && own.front().element == base::Element::i64 &&
               own_target.element == base::Element::i64 && own_target.sizes == own.front().sizes;
    }
    /// Whether the input is int64: tokens, or several inputs packed.
    bool is_whole() const { return is_own() && base::packed(own).element == base::Element::i64; }
    /// The shape of the target; [] for one class.
    std::vector<std::int64_t> target_sizes() const {
        if (is_own()) return own_target.sizes;
        return classifies() ? std::vector<std::int64_t>() : sizes(target_channels);
    }

  private:
    std::vector<std::int64_t> sizes(std::int64_t first) const {
        if (is_volume()) return {first, depth, height, width};
        return {first, height, width};
    }
};

class Model : public torch::nn::Module {
  public:
    /// Maps input [N, input_sizes()] to scores [N, classes, target_sizes()] or to values [N,
    /// target_sizes()].
    virtual torch::Tensor forward(const torch::Tensor& input) = 0;
    /// The mean loss over the batch, a scalar, which the trainer weights by the rank's share of the
    /// global batch. `targets` is [N, target_sizes()], int64 for classes. By default the negative
    /// log-likelihood of `output`, which must then hold log-probabilities.
    virtual torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const;

    using torch::nn::Module::to;
    /// Converts floating-point tensors only, as PyTorch does. LibTorch's own function also converts
    /// integers (BatchNorm's num_batches_tracked).
    void to(torch::Dtype dtype, bool non_blocking = false) override;
};

struct ModelConfig {
    InputShape input;
    bool dropout = true;
    /// Divides all inner channels, for small models of the same depth.
    std::int64_t width = 1;
    Ops ops = Ops::ranklab;
    bool full_scale = true;   ///< unet3d: include the innermost layer
    double lambda_rho = 0.0;  ///< unet3d: weight of the density term of its loss
};

/// Defaults of options, as documented for the model.
struct ModelDefaults {
    std::string data;
    std::string optimizer;
    double lr = 0.01;
    std::string lr_schedule = "none";
    double gamma = 1.0;
    std::int64_t batch_size = 64;
    double momentum = 0.0;
    std::int64_t workers = 0;          ///< loader threads
    std::string lr_scaling = "none";   ///< how lr grows with global batch / base_batch
    std::int64_t base_batch = 0;       ///< global batch to which lr belongs; 0: batch_size
    std::int64_t lr_warmup_steps = 0;  ///< in effect if lr_scaling increases lr
    bool channels_last = false;        ///< true if measured to be faster (docs/precision.md)
};

struct TokenFlops {
    std::int64_t forward = 0;  ///< of a sample: 2 x its multiply-accumulates
    double training = 0;       ///< per token, by a published formula
};

struct ModelEntry {
    std::string name;
    std::string summary;
    InputShape input;
    ModelDefaults defaults;
    /// Parameters are initialised from torch's current generator, in the order of registration.
    std::function<std::shared_ptr<Model>(const ModelConfig&)> make;
    /// Of language models, whose FLOPs an empty batch does not show; null: products are counted.
    std::function<TokenFlops(const ModelConfig&, std::int64_t parameters)> flops = {};
    /// The model and its weights come from a user's file; the model may refuse an empty batch.
    bool from_file = false;
};

/// Generated by CMake: all models, in the order of CMakeLists.txt.
std::vector<ModelEntry> models();

std::int64_t parameter_count(const Model& model);

/// Throws OptionError unless `width` divides `channels`, the smallest number of inner channels of
/// `model` (all others are multiples of it).
void require_width(std::int64_t width, std::int64_t channels, const std::string& model);

}  // namespace ranklab::nn
