#include "experiments/training/checkpoint_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "experiments/training/checkpoint_index.hpp"
#include "hdf5/file.hpp"
#include "hdf5/table.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

constexpr std::int64_t kSchema = 2;
constexpr const char* kSchemaName = "ranklab_checkpoint_schema";
constexpr const char* kSetting = "checkpoint";
// HDF5 looks for its signature at 0, 512, 1024 ...: what stands before is the user's ("user block").
constexpr std::size_t kHeader = 512;
constexpr std::string_view kFirstLine = "ranklab checkpoint\n";

// The lengths of what follows the header, one behind the other.
struct Parts {
    std::size_t image = 0;
    std::size_t index = 0;
};

std::string header_of(std::span<const std::byte> rest, const Parts& parts) {
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(rest.data()), rest.size());
    std::string header =
        fmt::format("{}schema {}: HDF5 from byte {} on: {} bytes, then an index: {} bytes, crc32 {:08x}\n",
                    kFirstLine, kSchema, kHeader, parts.image, parts.index, crc);
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

// The number behind `word`; nothing where there is none.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    std::uint64_t number = 0;
    const char* begin = text.data() + at + word.size();
    const auto result = std::from_chars(begin, text.data() + text.size(), number);
    if (result.ptr == begin || result.ec != std::errc{}) return std::nullopt;
    return number;
}

void check_schema(std::string_view header) {
    // The first one had no word for it, and kept what it knows in HDF5 alone.
    const auto schema = header.find("\nHDF5 from byte ") != std::string_view::npos
                            ? std::optional<std::uint64_t>(1)
                            : number_after(header, "\nschema ");
    if (!schema || schema == static_cast<std::uint64_t>(kSchema)) return;
    throw base::DataError(
        fmt::format("the checkpoint has schema {}, and this ranklab reads {}; use the version that wrote it, "
                    "or begin anew",
                    *schema, kSchema));
}

Parts checked_parts(std::span<const std::byte> bytes) {
    if (!begins_as_ours(bytes))
        throw base::DataError("this is no checkpoint of ranklab; name another folder");
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::string_view header = text.substr(0, kHeader);
    check_schema(header);
    const Parts parts{number_after(header, " on: ").value_or(0), number_after(header, "index: ").value_or(0)};
    const std::size_t rest = bytes.size() - header.size();
    const bool whole = header.size() == kHeader && parts.image <= rest && parts.index == rest - parts.image &&
                       header == header_of(bytes.subspan(kHeader), parts);
    if (!whole) throw base::DataError("the checkpoint is damaged or cut short; restore it, or begin anew");
    return parts;
}

void write_arrays(const hdf5::Group& group, const std::vector<NamedArray>& arrays, IndexWriter& index) {
    index.number(static_cast<std::int64_t>(arrays.size()));
    for (const auto& array : arrays) index.array(array, hdf5::write_typed(group, array.name, array.values));
}

void write_sets(const hdf5::Group& group, const std::vector<ArraySet>& sets, IndexWriter& index) {
    index.number(static_cast<std::int64_t>(sets.size()));
    for (const auto& set : sets) {
        index.text(set.name);
        write_arrays(group.create_large_group(set.name), set.arrays, index);
    }
}

void write_settings(const hdf5::Group& root, const CheckpointSettings& settings, IndexWriter& index) {
    Texts names;
    Texts values;
    index.number(static_cast<std::int64_t>(settings.size()));
    for (const auto& [name, value] : settings) {
        index.text(name);
        index.text(value);
        names.push_back(name);
        values.push_back(value);
    }
    hdf5::write_table(root, "settings", {{"name", names}, {"value", values}});
}

std::vector<NamedArray> read_arrays(IndexReader& index) {
    std::vector<NamedArray> arrays;
    for (std::int64_t left = index.number(); left > 0; --left) arrays.push_back(index.array());
    return arrays;
}

std::vector<ArraySet> read_sets(IndexReader& index) {
    std::vector<ArraySet> sets;
    for (std::int64_t left = index.number(); left > 0; --left) {
        std::string name = index.text();
        sets.push_back({std::move(name), read_arrays(index)});
    }
    return sets;
}

CheckpointSettings read_settings(IndexReader& index) {
    CheckpointSettings settings;
    for (std::int64_t left = index.number(); left > 0; --left) {
        std::string name = index.text();
        settings.emplace_back(std::move(name), index.text());
    }
    return settings;
}

[[noreturn]] void refuse(const char* call, const fs::path& path, int error) {
    base::throw_errno(call, path, error, kSetting);
}

}  // namespace

std::vector<std::byte> encode(const Checkpoint& checkpoint) {
    const std::lock_guard lock(hdf5::library_mutex());  // loader threads may read volumes through it
    hdf5::File file = hdf5::File::create_in_memory();
    const hdf5::Group root = file.root();
    IndexWriter index;
    root.set_int(kSchemaName, kSchema);
    root.set_int("completed_steps", checkpoint.completed_steps);
    index.number(checkpoint.completed_steps);
    write_settings(root, checkpoint.settings, index);
    write_arrays(root.create_large_group("parameters"), checkpoint.parameters, index);
    write_arrays(root.create_large_group("buffers"), checkpoint.buffers, index);
    write_sets(root.create_large_group("optimizer"), checkpoint.optimizer, index);
    write_sets(root.create_large_group("ranks"), checkpoint.ranks, index);
    std::vector<std::byte> bytes = file.image();
    file.close();
    const Parts parts{bytes.size(), index.bytes().size()};
    bytes.insert(bytes.end(), index.bytes().begin(), index.bytes().end());
    const std::string header = header_of(bytes, parts);
    const auto* begin = reinterpret_cast<const std::byte*>(header.data());
    bytes.insert(bytes.begin(), begin, begin + header.size());
    return bytes;
}

Checkpoint decode(std::span<const std::byte> bytes) {
    const Parts parts = checked_parts(bytes);
    const auto rest = bytes.subspan(kHeader);
    IndexReader index(rest.subspan(parts.image), rest.first(parts.image));
    Checkpoint checkpoint;
    checkpoint.completed_steps = index.number();
    if (checkpoint.completed_steps < 1)
        throw base::DataError(fmt::format("{} completed steps are impossible: the checkpoint is damaged",
                                          checkpoint.completed_steps));
    checkpoint.settings = read_settings(index);
    checkpoint.parameters = read_arrays(index);
    checkpoint.buffers = read_arrays(index);
    checkpoint.optimizer = read_sets(index);
    checkpoint.ranks = read_sets(index);
    index.finish();
    return checkpoint;
}

CheckpointFile::CheckpointFile(const fs::path& folder) : path_(folder / "checkpoint.h5") {}

void CheckpointFile::prepare(std::uint64_t expected_bytes) const {
    std::error_code error;
    fs::create_directories(path_.parent_path(), error);
    if (error) refuse("mkdir", path_.parent_path(), error.value());
    if (const auto kind = base::irregular_kind(path_); !kind.empty())
        throw base::OptionError(
            fmt::format("{} is {}, not a file; name another folder", path_.string(), kind), {kSetting});
    results::remove_leftovers(path_);
    results::StagedFile(path_, kSetting).reserve(expected_bytes);
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
    results::StagedFile staged(path_, kSetting);
    staged.reserve(bytes.size());
    staged.write(bytes);
    if (sets_aside_) keep_previous();
    staged.commit();
    sets_aside_ = false;
}

}  // namespace ranklab::experiments
