#include "experiments/training/bucket_file.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/utils.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>

#include "base/bucket_lines.hpp"
#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "comm/self.hpp"
#include "experiments/training/model_of.hpp"
#include "experiments/training/steps.hpp"
#include "host/process.hpp"
#include "results/staged_file.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSetting = "buckets";
constexpr std::int64_t kSamples = 2;  // BatchNorm of one sample with one voxel has no variance

// A slip of the keyboard must not end what is another thing; an empty file is nothing.
void refuse_what_is_no_table(const fs::path& target) {
    std::string beginning;
    const auto file = base::open_regular<base::OptionError>(target, O_RDONLY);
    if (!file) return;  // nothing there, or nothing that we may read: writing will tell
    base::read_up_to(file, base::kBucketTitle.size(), beginning);
    if (!beginning.empty() && beginning != base::kBucketTitle)
        throw base::OptionError(
            fmt::format("{} is there and is no table of buckets, so it is not replaced; name another file",
                        target.string()),
            {kSetting});
}

// Where links lead.
fs::path checked_place(const std::string& path) {
    if (fs::path(path).filename().empty())
        throw base::OptionError(fmt::format("'{}' names no file; name one", path), {kSetting});
    if (const auto kind = base::irregular_kind(path); !kind.empty())
        throw base::OptionError(fmt::format("{} is {}; name a file", path, kind), {kSetting});
    std::error_code error;
    const fs::path target = fs::weakly_canonical(fs::absolute(path), error);
    if (error) base::throw_errno("realpath", path, error.value(), kSetting);
    const fs::path folder = target.parent_path();
    if (!fs::is_directory(folder, error))
        throw base::OptionError(
            fmt::format("{}: there is no folder {}; make it first", path, folder.string()), {kSetting});
    refuse_what_is_no_table(target);
    return target;
}

// Larger samples than the model's own cost memory and time, and where its parameters are the same, so is what
// is reduced.
TrainingOptions with_samples_no_larger_than_needed(const TrainingOptions& options) {
    TrainingOptions own = options;
    own.input.edge = std::min(own.input.edge, entry_of(nn::models(), options.settings.model).input.height);
    return outline_of(own).parameters == options.outline.parameters ? own : options;
}

// The parameters, their gradients and, while the buckets are laid out anew, the gradients once more.
void check_memory(const TrainingOptions& options) {
    const auto memory = memory_of(options);
    const double needed = 2.0 * static_cast<double>(memory.sample_bytes + memory.model_bytes);
    const auto there = static_cast<double>(host::memory_bytes());
    if (there > 0 && needed > there)
        throw base::EnvironmentError(
            fmt::format(
                "a backward of this model needs {}, and this host has {}; write the table where there "
                "is more memory, or of a smaller model",
                base::human_bytes(needed), base::human_bytes(there)),
            {"width"});
}

std::vector<std::int64_t> batch_of(std::vector<std::int64_t> sizes) {
    sizes.insert(sizes.begin(), kSamples);
    return sizes;
}

// On the CPU wherever the run computes: the order in which backward reaches the parameters is the network's.
SpeedOptions speed_on_cpu(const TrainingOptions& options) {
    SpeedOptions speed = options.speed;
    speed.cuda = speed.cuda_graph = false;
    if (speed.precision == train::Precision::tf32) speed.precision = train::Precision::fp32;
    return speed;
}

torch::Tensor loss_of(nn::Model& model, const TrainingOptions& options, torch::Dtype type) {
    const auto shape = data_request(options);
    const auto input = torch::randn(batch_of(shape.input), torch::TensorOptions(type));
    const auto targets = shape.target.empty()
                             ? torch::randint(shape.classes, {kSamples}, torch::kLong)
                             : torch::randn(batch_of(shape.target), torch::TensorOptions(type));
    return model.loss(model.forward(input), targets);
}

// A step with a backward, after which the order is known, and one without samples, which reduces the buckets
// that all later steps have.
void settle_buckets(train::GradientSync& sync, const torch::Tensor& loss) {
    sync.begin_step({loss}, true);
    loss.backward();
    sync.finish();
    sync.begin_step({}, true);
    sync.finish();
}

base::Element type_that_travels(const torch::Tensor& gradient, train::Compression compression) {
    switch (compression) {
        case train::Compression::fp16:
            return base::Element::f16;
        case train::Compression::bf16:
            return base::Element::bf16;
        case train::Compression::none:
            break;
    }
    return train::view_of(torch::empty({0}, gradient.scalar_type())).dtype;
}

std::string rows_of(const train::GradientSync& sync, const std::vector<torch::Tensor>& parameters,
                    train::Compression compression) {
    const auto plan = sync.buckets();
    const auto& stamps = sync.stamps();
    if (plan.size() != stamps.size())
        throw base::Error(fmt::format("internal: {} buckets and {} reductions", plan.size(), stamps.size()));
    std::string rows;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        std::int64_t elements = 0;
        for (const std::size_t parameter : plan[i]) elements += parameters[parameter].numel();
        const auto type = type_that_travels(parameters[plan[i].front()], compression);
        if (static_cast<std::size_t>(elements) * base::size_of(type) != stamps[i].bytes)
            throw base::Error(fmt::format("internal: bucket {} of {} elements sends {} bytes", i, elements,
                                          stamps[i].bytes));
        rows += fmt::format("{},{},{},{},{}\n", i, plan[i].size(), elements, base::word_of(type),
                            stamps[i].bytes);
    }
    return rows;
}

// What decides the rows: nothing of the machine, nor of the time.
std::string comments_of(const TrainingOptions& options) {
    std::string text = fmt::format("{}\n", base::kBucketTitle);
    const auto& settings = options.settings;
    text += fmt::format(
        "# model: {}\n# width: {}\n# full-scale: {}\n# precision: {}\n# sync: {}\n# bucket-cap-mb: {}\n"
        "# compress: {}\n",
        settings.model, settings.width, settings.full_scale, settings.precision, *settings.sync,
        settings.bucket_cap_mb, settings.compress);
    return text + fmt::format("# input: {}\n# parameters: {}\n",
                              fmt::join(data_request(options).input, " x "), options.outline.parameters);
}

std::string table_of(const TrainingOptions& options) {
    at::set_num_threads(1);  // so little work that several would wait for each other
    const auto speed = speed_on_cpu(options);
    const auto model = prepared(make_model(options), speed, torch::kCPU, "--model " + options.settings.model);
    model->train();
    const auto alone = comm::make_self();
    const auto sync = make_sync(options, *alone, *alone);
    const auto parameters = train::trained_parameters(*model);
    sync->attach(parameters);
    settle_buckets(*sync, loss_of(*model, options, speed.parameter_type()));
    return fmt::format("{}\n{}", base::kBucketHeader, rows_of(*sync, parameters, options.compression));
}

}  // namespace

void write_bucket_file(const TrainingOptions& options) {
    const fs::path target = checked_place(*options.settings.buckets);
    std::error_code error;
    const bool replaces = fs::exists(target, error);
    if (replaces) results::check_not_write_protected(target, kSetting);
    results::StagedFile staged(target, kSetting);
    if (replaces) staged.copy_permissions();
    const auto computed = with_samples_no_larger_than_needed(options);
    check_memory(computed);
    const std::string table = comments_of(options) + table_of(computed);
    staged.write(std::as_bytes(std::span(table)));
    staged.commit();
}

}  // namespace ranklab::experiments
