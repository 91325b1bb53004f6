// --buckets: writes the gradient buckets of a step to a file.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "experiments/training/steps.hpp"
#include "results/staged_file.hpp"
#include "train/tensor_view.hpp"
#include "vocabulary/tables.hpp"

namespace ranklab::experiments {
namespace {

constexpr const char* kBucketsSetting = "buckets";
constexpr std::int64_t kSamples = 2;  // one sample of one voxel has no variance for BatchNorm

// Buckets depend on the parameters alone: smaller samples save memory if they change no parameter.
TrainingOptions with_samples_no_larger_than_needed(const TrainingOptions& options) {
    TrainingOptions own = options;
    auto& size = size_setting(own.settings);
    if (size) size = std::min(*size, model_entry(options.settings).input.usual_size());
    return outline_of(own).parameters == options.outline.parameters ? own : options;
}

torch::Tensor loss_of(nn::Model& model, const TrainingOptions& options) {
    const auto batch = sample_batch(options, kSamples);
    return model.loss(model.forward(batch.input), batch.targets);
}

// The first step finds the order in which gradients come. The second step rebuilds the buckets in
// this order, for itself and all later steps.
void settle_buckets(train::GradientSync& sync, const torch::Tensor& loss) {
    sync.begin_step({loss}, true);
    loss.backward();
    sync.finish();
    sync.begin_step({}, true);
    sync.finish();
}

base::Element type_that_travels(const torch::Tensor& gradient, train::Compression compression) {
    if (compression == train::Compression::fp16) return base::Element::f16;
    if (compression == train::Compression::bf16) return base::Element::bf16;
    return train::element_of(gradient.scalar_type());
}

std::string rows_of(const train::GradientSync& sync, const std::vector<torch::Tensor>& parameters,
                    train::Compression compression) {
    std::string rows;
    const auto plan = sync.buckets();
    for (std::size_t i = 0; i < plan.size(); ++i) {
        std::int64_t elements = 0;
        for (const std::size_t parameter : plan[i]) elements += parameters[parameter].numel();
        rows +=
            fmt::format("{},{},{},{},{}\n", i, plan[i].size(), elements,
                        base::word_of(type_that_travels(parameters[plan[i].front()], compression)),
                        sync.stamps().at(i).bytes);
    }
    return rows;
}

// Returns comment lines with the settings that decide the rows.
std::string comments_of(const TrainingOptions& options) {
    const auto& settings = options.settings;
    return fmt::format(
        "{}\n# model: {}\n# width: {}\n# full-scale: {}\n# precision: {}\n# sync: {}\n# "
        "bucket-cap-mb: {}\n"
        "# compress: {}\n# input: {}\n# parameters: {}\n",
        vocabulary::kBucketTitle, settings.model, settings.width, settings.full_scale,
        settings.precision, *settings.sync, settings.bucket_cap_mb, settings.compress,
        fmt::join(data_request(options).input, " x "), options.outline.parameters);
}

std::string table_of(const TrainingOptions& options) {
    at::set_num_threads(1);  // too little work for several threads
    // Works on the CPU: backward reaches the parameters in the same order as on a GPU.
    const auto model = prepared(make_model(options), options.settings, torch::kCPU);
    model->train();
    const auto alone = comm::make_self();
    const auto sync = make_sync(options, *model, *alone, *alone);
    const auto parameters = train::trained_parameters(*model);
    sync->attach(parameters);
    settle_buckets(*sync, loss_of(*model, options));
    return fmt::format("{}\n{}", vocabulary::kBucketHeader,
                       rows_of(*sync, parameters, options.compression));
}

}  // namespace

void write_bucket_file(const TrainingOptions& options) {
    results::TextFile file(*options.settings.buckets, kBucketsSetting);
    file.write(comments_of(options) + table_of(with_samples_no_larger_than_needed(options)));
    file.commit();
}

}  // namespace ranklab::experiments
