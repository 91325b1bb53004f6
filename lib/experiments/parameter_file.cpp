#include "experiments/parameter_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/unique_handle.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"
#include "hdf5/library_mutex.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;

struct StreamTraits {
    using type = std::FILE*;
    static constexpr type empty = nullptr;
    static void close(type stream) noexcept { std::fclose(stream); }
};

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
    base::unique_handle<StreamTraits> stream(std::fopen(temporary.c_str(), "wb"));
    const bool written = stream && std::fwrite(bytes.data(), 1, bytes.size(), stream.get()) == bytes.size() &&
                         std::fflush(stream.get()) == 0;
    if (written) return;
    const int reason = errno;
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw base::EnvironmentError(
        fmt::format("--save-parameters {} cannot be written: {}; name a file in another folder", path,
                    std::strerror(reason)));
}

fs::path temporary_for(const std::string& path) {
    return path + ".tmp";
}

}  // namespace

void check_parameter_file(const std::string& path, const nn::Model& model) {
    const fs::path folder = fs::absolute(path).parent_path();
    if (!fs::is_directory(folder)) {
        throw base::OptionError(fmt::format(
            "--save-parameters {}: the folder {} does not exist; make it first", path, folder.string()));
    }
    if (fs::exists(path) && !fs::is_regular_file(path)) {
        throw base::OptionError(fmt::format("--save-parameters {} is not a file; name one", path));
    }
    write_bytes(path, temporary_for(path), image_of(model));
    fs::remove(temporary_for(path));
}

void write_parameter_file(const std::string& path, const nn::Model& model) {
    write_bytes(path, temporary_for(path), image_of(model));
    fs::rename(temporary_for(path), path);
}

}  // namespace ranklab::experiments
