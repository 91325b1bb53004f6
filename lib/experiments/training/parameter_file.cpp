#include "experiments/training/parameter_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;

constexpr const char* kParametersSetting = "save-parameters";

std::vector<std::byte> image_of(const nn::Model& model) {
    const std::lock_guard lock(hdf5::library_mutex());
    hdf5::File file = hdf5::File::create_in_memory();
    for (const auto& item : model.named_parameters()) {
        const torch::Tensor values = item.value().detach().to(torch::kDouble).contiguous();
        const std::span flat(values.const_data_ptr<double>(), static_cast<std::size_t>(values.numel()));
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

}  // namespace ranklab::experiments
