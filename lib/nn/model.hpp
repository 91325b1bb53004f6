// A model: the network, its loss and what it takes. No ranks, no files, no options.
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

/// One sample's shape and its target: a class, or (target_channels > 0) a field of values of the
/// same extents.
struct InputShape {
    std::int64_t channels = 1;
    std::int64_t height = 1;
    std::int64_t width = 1;
    std::int64_t classes = 0;
    std::int64_t depth = 0;  ///< of a volume; 0: an image
    std::int64_t target_channels = 0;
    /// A user's own network has these inputs and this target in place of channels and extents; an
    /// i64 target is of classes.
    std::vector<base::Field> own = {};
    base::Field own_target = {};

    bool is_own() const { return !own.empty(); }
    bool is_volume() const { return depth > 0; }
    bool classifies() const {
        return is_own() ? own_target.element == base::Element::i64 : target_channels == 0;
    }
    /// [channels, height, width] or [channels, depth, height, width]; of several inputs packed.
    std::vector<std::int64_t> input_sizes() const {
        return is_own() ? base::packed(own).sizes : sizes(channels);
    }
    /// int64 in place of numbers: tokens, or several inputs packed.
    bool is_whole() const { return is_own() && base::packed(own).element == base::Element::i64; }
    /// The sizes of the target field; [] for a class.
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
    /// Maps input [N, input_sizes()] to scores [N, classes], or to the field [N, target_sizes()].
    virtual torch::Tensor forward(const torch::Tensor& input) = 0;
    /// The mean loss over the batch, a scalar: the trainer weights it by the rank's share of the
    /// global batch. targets [N], int64, or [N, target_sizes()]. Here of log-probabilities.
    virtual torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const;
    /// The fewest samples of a batch in training: BatchNorm cannot normalise one value per channel.
    virtual std::int64_t least_batch() const { return 1; }

    using torch::nn::Module::to;
    /// Works as PyTorch's: integers (BatchNorm's num_batches_tracked) keep their type; LibTorch's
    /// own would make them floating-point too.
    void to(torch::Dtype dtype, bool non_blocking = false) override;
};

struct ModelConfig {
    InputShape input;
    bool dropout = true;
    /// The divisor of all inner channels, for small models of the same depth.
    std::int64_t width = 1;
    Ops ops = Ops::ranklab;   ///< where there are two
    bool full_scale = true;   ///< unet3d: with the innermost layer
    double lambda_rho = 0.0;  ///< unet3d: weight of the density term of its loss
};

/// The document's way to train it; each can be overruled by an option.
struct ModelDefaults {
    std::string data;
    std::string optimizer;
    double lr = 0.01;
    std::string lr_schedule = "none";
    double gamma = 1.0;
    std::int64_t batch_size = 64;
    double momentum = 0.0;
    std::int64_t workers = 0;          ///< loader threads
    std::string lr_scaling = "none";   ///< of lr with global batch / base_batch
    std::int64_t base_batch = 0;       ///< global batch that lr is meant for; 0: batch_size
    std::int64_t lr_warmup_steps = 0;  ///< where lr is scaled
    bool channels_last = false;        ///< the faster memory format, as measured: docs/precision.md
};

struct ModelEntry {
    std::string name;
    std::string summary;
    InputShape input;
    ModelDefaults defaults;
    /// Parameters are initialised from torch's current generator, in the order of registration.
    std::function<std::shared_ptr<Model>(const ModelConfig&)> make;
};

/// Generated: all models, in CMake's order.
std::vector<ModelEntry> models();

std::int64_t parameter_count(const Model& model);

/// OptionError unless `width` divides `channels`, the fewest inner channels of `model` (the others
/// are multiples of them).
void require_width(std::int64_t width, std::int64_t channels, const std::string& model);

}  // namespace ranklab::nn
