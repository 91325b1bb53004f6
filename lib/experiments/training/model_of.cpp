#include "experiments/training/model_of.hpp"

#include <torch/utils.h>

#include <functional>
#include <numeric>

namespace ranklab::experiments {
namespace {

nn::InputShape input_shape(const TrainingOptions& options) {
    auto input = entry_of(nn::models(), options.settings.model).input;
    input.height = input.width = options.input.edge;
    if (input.is_volume()) input.depth = options.input.edge;
    return input;
}

nn::ModelConfig model_config(const TrainingOptions& options) {
    return {.input = input_shape(options),
            .dropout = options.settings.dropout == "on",
            .width = options.settings.width,
            .ops = options.speed.ops,
            .full_scale = options.settings.full_scale == "on",
            .lambda_rho = options.settings.lambda_rho};
}

}  // namespace

// One seed gives every rank the same weights; rank 0's are broadcast all the same, and compared afterwards.
std::shared_ptr<nn::Model> make_model(const TrainingOptions& options) {
    const auto entry = entry_of(nn::models(), options.settings.model);
    torch::manual_seed(options.seed());
    return entry.make(model_config(options));
}

nn::Outline outline_of(const TrainingOptions& options) {
    return nn::outline_of(entry_of(nn::models(), options.settings.model), model_config(options));
}

std::int64_t sample_bytes(const TrainingOptions& options) {
    const auto input = input_shape(options);
    const auto elements = [](const std::vector<std::int64_t>& sizes) {
        return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
    };
    return std::int64_t{sizeof(float)} * (elements(input.input_sizes()) + elements(input.target_sizes()));
}

data::DataRequest data_request(const TrainingOptions& options) {
    const auto input = input_shape(options);
    return {.input = input.input_sizes(),
            .target = input.target_sizes(),
            .classes = input.classes,
            .directory = options.settings.data_dir.value_or(""),
            .seed = options.seed(),
            .train_samples = options.input.train_samples,
            .test_samples = options.input.validation_samples,
            .volume = options.input.volume};
}

}  // namespace ranklab::experiments
