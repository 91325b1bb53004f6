#include "experiments/training/checkpoint_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSetting = "checkpoint";
constexpr std::size_t kDigits = 8;  // of the checksum, after the HDF5 file

std::string checksum_of(std::span<const std::byte> bytes) {
    return fmt::format("{:08x}",
                       crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Checked before HDF5 reads the file: HDF5 1.10 may crash on damaged structures.
bool has_its_checksum(std::span<const std::byte> bytes) {
    const auto digits = bytes.last(std::min(bytes.size(), kDigits));
    const std::string expected = checksum_of(bytes.first(bytes.size() - digits.size()));
    return std::ranges::equal(digits, std::as_bytes(std::span(expected)));
}

// Throws OptionError unless nothing or a whole checkpoint is there, which may be replaced.
void refuse_others(const fs::path& path) {
    const auto status = fs::symlink_status(path);
    if (!fs::exists(status)) return;
    const auto file = base::open_file(path, O_RDONLY | O_NOFOLLOW);
    std::vector<std::byte> bytes(fs::is_regular_file(status) ? fs::file_size(path) : 0);
    if (!file || base::read_whole(file.get(), bytes) != bytes.size() || !has_its_checksum(bytes))
        throw base::OptionError(
            fmt::format("{} is not a whole checkpoint, and would be replaced; name another folder",
                        path.string()),
            {kSetting});
}

}  // namespace

CheckpointFile::CheckpointFile(const fs::path& folder) : path_(folder / "checkpoint.h5") {}

void CheckpointFile::prepare(std::uint64_t expected_bytes) const {
    base::make_folders(path_.parent_path(), kSetting);
    if (const auto kind = base::irregular_kind(path_); !kind.empty())
        throw base::OptionError(
            fmt::format("{} is {}, not a file; name another folder", path_.string(), kind),
            {kSetting});
    results::remove_leftovers(path_);
    results::StagedFile(path_, kSetting).reserve(expected_bytes);
}

std::optional<hdf5::File> CheckpointFile::open() const {
    const auto file = base::open_regular<base::DataError>(path_, O_RDONLY);
    if (!file && errno == ENOENT) return std::nullopt;
    if (!file) base::throw_read_errno("open", path_, errno, kSetting);
    std::vector<std::byte> bytes(fs::file_size(path_));
    const auto read = base::read_whole(file.get(), bytes);
    if (!read) base::throw_read_errno("read", path_, errno, kSetting);
    bytes.resize(*read);
    if (!has_its_checksum(bytes))
        throw base::DataError(
            "the checkpoint is damaged, cut short, or no checkpoint of this version; restore it, "
            "or begin anew in another folder");
    auto opened = hdf5::File::open_to_read(path_);
    if (const auto schema = opened.root().int_attribute(kSchemaName); schema != kSchema)
        throw base::DataError(
            fmt::format("the checkpoint has schema {}, and this ranklab reads {}; use the version "
                        "that wrote it, or begin anew",
                        schema, kSchema));
    return opened;
}

bool CheckpointFile::set_aside_first() {
    sets_aside_ = fs::exists(path_);
    refuse_others(path_);
    if (sets_aside_) refuse_others(path_.parent_path() / kPrevious);
    return sets_aside_;
}

std::uint64_t CheckpointFile::write(std::span<const std::byte> image) {
    const std::string checksum = checksum_of(image);
    results::StagedFile staged(path_, kSetting);
    staged.reserve(image.size() + checksum.size());
    staged.write(image);
    staged.write(std::as_bytes(std::span(checksum)));
    std::error_code error;
    const fs::path previous = path_.parent_path() / kPrevious;
    if (sets_aside_) fs::rename(path_, previous, error);
    if (error) base::throw_errno("rename", previous, error.value(), kSetting);
    sets_aside_ = false;
    staged.commit();
    return image.size() + checksum.size();
}

}  // namespace ranklab::experiments
