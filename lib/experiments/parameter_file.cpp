#include "experiments/parameter_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "base/error.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"

namespace ranklab::experiments {

namespace fs = std::filesystem;

void check_parameter_file(const std::string& path) {
    const fs::path folder = fs::absolute(path).parent_path();
    if (!fs::is_directory(folder)) {
        throw base::OptionError(fmt::format(
            "--save-parameters {}: the folder {} does not exist; make it first", path, folder.string()));
    }
    if (fs::exists(path) && !fs::is_regular_file(path)) {
        throw base::OptionError(fmt::format("--save-parameters {} is not a file; name one", path));
    }
}

void write_parameter_file(const std::string& path, const nn::Model& model) {
    const fs::path temporary = path + ".tmp";
    hdf5::File file = hdf5::File::create(temporary);
    for (const auto& item : model.named_parameters()) {
        const torch::Tensor values = item.value().detach().to(torch::kDouble).contiguous();
        const std::span flat(values.const_data_ptr<double>(), static_cast<std::size_t>(values.numel()));
        hdf5::write_array(file.root(), item.key(), flat)
            .set_text("shape", fmt::format("{}", fmt::join(values.sizes().vec(), ",")));
    }
    file.close();
    fs::rename(temporary, path);
}

}  // namespace ranklab::experiments
