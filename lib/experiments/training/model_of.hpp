// What the options make of the catalogues' models and data sets.
#pragma once

#include <memory>

#include "data/dataset.hpp"
#include "experiments/training/options.hpp"
#include "nn/model.hpp"
#include "nn/outline.hpp"

namespace ranklab::experiments {

/// With weights of the options' seed.
std::shared_ptr<nn::Model> make_model(const TrainingOptions& options);
/// Its size, without making it.
nn::Outline outline_of(const TrainingOptions& options);
/// Input and target of one sample in fp32.
std::int64_t sample_bytes(const TrainingOptions& options);
data::DataRequest data_request(const TrainingOptions& options);

}  // namespace ranklab::experiments
