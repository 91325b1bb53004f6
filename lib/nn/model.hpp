// A model: the network, its loss and what it takes. No ranks, no files, no options.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ranklab::nn {

/// One sample's shape and how many classes there are.
struct InputShape {
    std::int64_t channels = 1;
    std::int64_t height = 1;
    std::int64_t width = 1;
    std::int64_t classes = 1;
};

class Model : public torch::nn::Module {
  public:
    /// images [N, channels, height, width] -> scores [N, classes].
    virtual torch::Tensor forward(const torch::Tensor& images) = 0;
    /// The mean loss over the batch, a scalar. targets [N], int64.
    virtual torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const = 0;
};

struct ModelConfig {
    InputShape input;
    bool dropout = true;
};

/// The document's way to train it; each can be overruled by an option.
struct ModelDefaults {
    std::string data;
    std::string optimizer;
    double lr = 0.01;
    std::string lr_schedule = "none";
    double gamma = 1.0;
    std::int64_t batch_size = 64;
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

}  // namespace ranklab::nn
