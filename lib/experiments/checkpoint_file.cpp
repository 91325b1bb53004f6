#include "experiments/checkpoint_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "hdf5/file.hpp"
#include "hdf5/library_mutex.hpp"
#include "hdf5/table.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

constexpr std::int64_t kSchema = 1;
constexpr const char* kSchemaName = "ranklab_checkpoint_schema";
constexpr const char* kOption = "--checkpoint";
// HDF5 looks for its signature at 0, 512, 1024 ...: what stands before is the user's ("user block").
constexpr std::size_t kHeader = 512;
constexpr std::string_view kFirstLine = "ranklab checkpoint\n";

// The checksum stands outside of HDF5, which does not survive every damage to its own structures.
std::string header_of(std::span<const std::byte> image) {
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(image.data()), image.size());
    std::string header = fmt::format("{}HDF5 from byte {} on: {} bytes, crc32 {:08x}\n", kFirstLine, kHeader,
                                     image.size(), crc);
    header.resize(kHeader, '\0');
    return header;
}

bool begins_as_ours(std::span<const std::byte> bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())
        .starts_with(kFirstLine);
}

std::vector<std::byte> next_bytes(std::ifstream& file, const fs::path& path, std::uint64_t size) {
    std::vector<std::byte> bytes(size);
    if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size)))
        throw base::EnvironmentError(
            fmt::format("{} cannot be read; look at its permissions and its file system", path.string()));
    return bytes;
}

void check_header(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!begins_as_ours(bytes))
        throw base::DataError("this is no checkpoint of ranklab; name another folder");
    if (text.size() < kHeader || text.substr(0, kHeader) != header_of(bytes.subspan(kHeader)))
        throw base::DataError("the checkpoint is damaged or cut short; restore it, or begin anew");
}

void write_arrays(const hdf5::Group& group, const std::vector<NamedArray>& arrays) {
    for (const auto& array : arrays) hdf5::write_typed(group, array.name, array.values);
}

void write_sets(const hdf5::Group& group, const std::vector<ArraySet>& sets) {
    for (const auto& set : sets) write_arrays(group.create_large_group(set.name), set.arrays);
}

void write_settings(const hdf5::Group& root, const CheckpointSettings& settings) {
    Texts names;
    Texts values;
    for (const auto& [name, value] : settings) {
        names.push_back(name);
        values.push_back(value);
    }
    hdf5::write_table(root, "settings", {{"name", names}, {"value", values}});
}

std::vector<NamedArray> read_arrays(const hdf5::Group& group) {
    std::vector<NamedArray> arrays;
    for (const auto& name : group.members()) arrays.push_back({name, hdf5::read_typed(group, name)});
    return arrays;
}

std::vector<ArraySet> read_sets(const hdf5::Group& group) {
    std::vector<ArraySet> sets;
    for (const auto& name : group.members()) sets.push_back({name, read_arrays(group.open_group(name))});
    return sets;
}

CheckpointSettings read_settings(const hdf5::Group& root) {
    const auto columns = hdf5::read_table(root, "settings");
    const auto* names = columns.size() == 2 ? std::get_if<Texts>(&columns[0].values) : nullptr;
    const auto* values = columns.size() == 2 ? std::get_if<Texts>(&columns[1].values) : nullptr;
    if (names == nullptr || values == nullptr)
        throw base::DataError("its table of settings does not have names and values");
    CheckpointSettings settings;
    for (std::size_t i = 0; i < names->size(); ++i) settings.emplace_back((*names)[i], (*values)[i]);
    return settings;
}

void check_schema(const hdf5::Group& root) {
    if (!root.has_attribute(kSchemaName))
        throw base::DataError(fmt::format("the attribute {} is missing: this is no checkpoint", kSchemaName));
    const std::int64_t schema = root.int_attribute(kSchemaName);
    if (schema == kSchema) return;
    throw base::DataError(
        fmt::format("the checkpoint has schema {}, and this ranklab reads {}; use the version that wrote it, "
                    "or begin anew",
                    schema, kSchema));
}

Checkpoint read_contents(const hdf5::Group& root) {
    check_schema(root);
    Checkpoint checkpoint;
    checkpoint.completed_steps = root.int_attribute("completed_steps");
    if (checkpoint.completed_steps < 1)
        throw base::DataError(fmt::format("{} completed steps cannot be: the checkpoint is damaged",
                                          checkpoint.completed_steps));
    checkpoint.settings = read_settings(root);
    checkpoint.parameters = read_arrays(root.open_group("parameters"));
    checkpoint.buffers = read_arrays(root.open_group("buffers"));
    checkpoint.optimizer = read_sets(root.open_group("optimizer"));
    checkpoint.ranks = read_sets(root.open_group("ranks"));
    return checkpoint;
}

[[noreturn]] void refuse(const char* call, const fs::path& path, int error) {
    base::throw_errno(call, path, error, kOption);
}

}  // namespace

std::vector<std::byte> encode(const Checkpoint& checkpoint) {
    const std::lock_guard lock(hdf5::library_mutex());  // loader threads may read volumes through it
    hdf5::File file = hdf5::File::create_in_memory();
    const hdf5::Group root = file.root();
    root.set_int(kSchemaName, kSchema);
    root.set_int("completed_steps", checkpoint.completed_steps);
    write_settings(root, checkpoint.settings);
    write_arrays(root.create_large_group("parameters"), checkpoint.parameters);
    write_arrays(root.create_large_group("buffers"), checkpoint.buffers);
    write_sets(root.create_large_group("optimizer"), checkpoint.optimizer);
    write_sets(root.create_large_group("ranks"), checkpoint.ranks);
    std::vector<std::byte> bytes = file.image();
    file.close();
    const std::string header = header_of(bytes);
    const auto* begin = reinterpret_cast<const std::byte*>(header.data());
    bytes.insert(bytes.begin(), begin, begin + header.size());
    return bytes;
}

Checkpoint decode(std::span<const std::byte> bytes) {
    check_header(bytes);
    const std::lock_guard lock(hdf5::library_mutex());
    try {
        const hdf5::File file = hdf5::File::open_image(bytes.subspan(kHeader));
        return read_contents(file.root());
    } catch (const base::Hdf5Error& error) {
        throw base::DataError(
            fmt::format("the checkpoint is not as one of schema {} should be ({})", kSchema, error.what()));
    }
}

CheckpointFile::CheckpointFile(const fs::path& folder) : path_(folder / "checkpoint.h5") {}

void CheckpointFile::prepare(std::uint64_t expected_bytes) const {
    std::error_code error;
    fs::create_directories(path_.parent_path(), error);
    if (error) refuse("mkdir", path_.parent_path(), error.value());
    if (const auto kind = base::irregular_kind(path_); !kind.empty())
        throw base::OptionError(
            fmt::format("{} is {}, not a file; name another folder with {}", path_.string(), kind, kOption));
    results::remove_leftovers(path_);
    results::StagedFile(path_, kOption).reserve(expected_bytes);
}

std::optional<std::vector<std::byte>> CheckpointFile::read() const {
    base::refuse_irregular<base::DataError>(path_);
    std::error_code error;
    const auto size = fs::file_size(path_, error);
    if (error == std::errc::no_such_file_or_directory) return std::nullopt;
    if (error) refuse("stat", path_, error.value());
    std::ifstream file(path_, std::ios::binary);
    // Somebody's large file of that name is not read whole: its first bytes are refused as well.
    auto bytes = next_bytes(file, path_, std::min<std::uint64_t>(size, kHeader));
    if (!begins_as_ours(bytes)) return bytes;
    const auto rest = next_bytes(file, path_, size - bytes.size());
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return bytes;
}

bool CheckpointFile::set_aside_first() {
    std::error_code error;
    sets_aside_ = fs::exists(path_, error);
    return sets_aside_;
}

void CheckpointFile::keep_previous() const {
    const fs::path previous = path_.parent_path() / kPrevious;
    const fs::path beside = path_.parent_path() / ".checkpoint.previous.h5.tmp";
    std::error_code error;
    fs::remove(beside, error);
    // A second name, so that the first one is there at every moment; a copy where there are no hard links.
    fs::create_hard_link(path_, beside, error);
    if (error) fs::copy_file(path_, beside, error);
    if (!error) fs::rename(beside, previous, error);
    if (error) refuse("rename", previous, error.value());
}

void CheckpointFile::write(std::span<const std::byte> bytes) {
    results::StagedFile staged(path_, kOption);
    staged.reserve(bytes.size());
    staged.write(bytes);
    if (sets_aside_) keep_previous();
    staged.commit();
    sets_aside_ = false;
}

}  // namespace ranklab::experiments
