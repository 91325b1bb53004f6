#include "experiments/training/parameter_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/whole_io.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;

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

// Leaves no temporary file behind when it throws.
void write_bytes(const std::string& path, const fs::path& temporary, const std::vector<std::byte>& bytes) {
    const auto file =
        base::open_regular<base::OptionError>(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
    if (file && base::write_whole(file.get(), bytes)) return;
    const int reason = errno;
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw base::EnvironmentError(
        fmt::format("--save-parameters {} cannot be written: {}; name a file in another folder", path,
                    std::strerror(reason)));
}

bool holds_parameters(const std::string& path) try {
    const std::lock_guard lock(hdf5::library_mutex());
    const auto file = hdf5::File::open_to_read(path);
    const auto root = file.root();
    const auto names = root.members();
    return std::ranges::all_of(
        names, [&](const auto& name) { return hdf5::open_dataset(root, name).has_attribute("shape"); });
} catch (const base::Error&) {
    return false;  // cut short, or another thing
}

// A slip of the keyboard would end all the runs of a results file, or a checkpoint.
void refuse_what_is_no_parameter_file(const std::string& path) {
    std::error_code none;
    if (!fs::exists(path, none) || fs::file_size(path, none) == 0) return;
    if (!hdf5::is_hdf5(path) || !holds_parameters(path))
        throw base::OptionError(
            fmt::format("{} is there and is no file of parameters, so it is not replaced; name another file",
                        path),
            {"save-parameters"});
}

fs::path temporary_for(const std::string& path) {
    return path + ".tmp";
}

}  // namespace

void check_parameter_file(const std::string& path, const nn::Model& model) {
    const fs::path folder = fs::absolute(path).parent_path();
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        throw base::OptionError(fmt::format(
            "--save-parameters {}: the folder {} does not exist; make it first", path, folder.string()));
    }
    if (const auto kind = base::irregular_kind(path); !kind.empty())
        throw base::OptionError(fmt::format("--save-parameters {} is {}; name a file", path, kind));
    refuse_what_is_no_parameter_file(path);
    write_bytes(path, temporary_for(path), image_of(model));
    fs::remove(temporary_for(path));
}

void write_parameter_file(const std::string& path, const nn::Model& model) {
    write_bytes(path, temporary_for(path), image_of(model));
    fs::rename(temporary_for(path), path);
}

}  // namespace ranklab::experiments
