#include "experiments/training/files.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "comm/communicator.hpp"
#include "experiments/training/options.hpp"
#include "experiments/training/steps.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"
#include "nn/script_model.hpp"
#include "results/staged_file.hpp"
#include "train/tensor_view.hpp"
#include "vocabulary/tables.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;

constexpr const char* kParametersSetting = "save-parameters";

std::vector<std::byte> image_of(const nn::Model& model) {
    const std::lock_guard lock(hdf5::library_mutex());
    hdf5::File file = hdf5::File::create_in_memory();
    for (const auto& item : model.named_parameters()) {
        const torch::Tensor values = item.value().detach().to(torch::kDouble).contiguous();
        const std::span flat(values.const_data_ptr<double>(),
                             static_cast<std::size_t>(values.numel()));
        hdf5::write_array(file.root(), item.key(), flat)
            .set_text("shape", fmt::format("{}", fmt::join(values.sizes().vec(), ",")));
    }
    std::vector<std::byte> bytes = file.image();
    file.close();
    return bytes;
}

// All the runs of a results file would be lost by a wrong name.
void refuse_another_file(const std::string& path) {
    base::refuse_irregular<base::OptionError>(path);
    std::error_code none;
    if (!fs::exists(path, none) || fs::file_size(path, none) == 0) return;
    const std::lock_guard lock(hdf5::library_mutex());
    if (!hdf5::is_hdf5(path) || hdf5::File::open_to_read(path).root().has("runs"))
        throw base::OptionError(
            fmt::format("{} exists and is not a file of parameters; name another file", path),
            {kParametersSetting});
}

}  // namespace

void check_parameter_file(const std::string& path, const nn::Model& model) {
    const fs::path folder = fs::absolute(path).parent_path();
    std::error_code error;
    if (!fs::is_directory(folder, error))
        throw base::OptionError(
            fmt::format("{}: the folder {} does not exist; make it first", path, folder.string()),
            {kParametersSetting});
    refuse_another_file(path);
    results::StagedFile(path, kParametersSetting).reserve(image_of(model).size());
}

void write_parameter_file(const std::string& path, const nn::Model& model) {
    results::StagedFile staged(path, kParametersSetting);
    staged.write(image_of(model));
    staged.commit();
}

namespace {

constexpr const char* kBucketsSetting = "buckets";
constexpr std::int64_t kSamples = 2;  // BatchNorm of one sample with one voxel has no variance

// Samples larger than the model's own cost memory and time, and do not change the reductions where
// the parameters stay the same.
TrainingOptions with_samples_no_larger_than_needed(const TrainingOptions& options) {
    TrainingOptions own = options;
    own.input.edge = std::min(own.input.edge, model_entry(options.settings).input.height);
    return outline_of(own).parameters == options.outline.parameters ? own : options;
}

torch::Tensor loss_of(nn::Model& model, const TrainingOptions& options) {
    const auto batch = sample_batch(options, kSamples);
    return model.loss(model.forward(batch.input), batch.targets);
}

// Makes a step with a backward, after which the order is known, and one without samples, which
// reduces the buckets of all later steps.
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

// Only settings that decide the rows: neither machine nor time.
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
    at::set_num_threads(1);  // so little work that several would wait for each other
    // The network determines the order in which backward reaches the parameters, on a GPU too.
    const auto model = prepared(make_model(options), options.speed, torch::kCPU);
    model->train();
    const auto alone = comm::make_self();
    const auto sync = make_sync(options, *alone, *alone);
    const auto parameters = train::trained_parameters(*model);
    sync->attach(parameters);
    settle_buckets(*sync, loss_of(*model, options));
    return fmt::format("{}\n{}", vocabulary::kBucketHeader,
                       rows_of(*sync, parameters, options.compression));
}

}  // namespace

void write_bucket_file(const TrainingOptions& options) {
    const std::string& path = *options.settings.buckets;
    const auto file = base::open_regular<base::OptionError>(path, O_WRONLY | O_CREAT);
    if (!file) base::throw_errno("open", path, errno, kBucketsSetting);
    const std::string table =
        comments_of(options) + table_of(with_samples_no_larger_than_needed(options));
    if (::ftruncate(file.get(), 0) != 0 || !base::write_whole(file.get(), table))
        base::throw_errno("write", path, errno, kBucketsSetting);
}

}  // namespace ranklab::experiments
