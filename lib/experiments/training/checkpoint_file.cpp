#include "experiments/training/checkpoint_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "hdf5/file.hpp"
#include "hdf5/table.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;
using Json = nlohmann::json;

constexpr std::int64_t kSchema = 3;
constexpr const char* kSetting = "checkpoint";
// HDF5 searches its signature at 0, 512, 1024 ...; the bytes before it are a "user block".
constexpr std::size_t kHeader = 512;
constexpr std::string_view kFirstLine = "ranklab checkpoint\n";

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string header_of(std::span<const std::byte> rest, std::size_t image) {
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(rest.data()), rest.size());
    std::string header = fmt::format(
        "{}schema {}: HDF5 from byte {} on: {} bytes, then an index: {} bytes, crc32 {:08x}\n",
        kFirstLine, kSchema, kHeader, image, rest.size() - image, crc);
    header.resize(kHeader, '\0');
    return header;
}

// The number after `word`; 0 without one.
std::size_t number_after(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) return 0;
    return std::strtoull(std::string(text.substr(at + word.size(), 20)).c_str(), nullptr, 10);
}

[[noreturn]] void damaged() {
    throw base::DataError("the checkpoint is damaged or cut short; restore it, or begin anew");
}

// Returns the size of the HDF5 part, which follows the header.
std::size_t checked_image_size(std::span<const std::byte> bytes) {
    const std::string_view header = text_of(bytes).substr(0, kHeader);
    if (!header.starts_with(kFirstLine))
        throw base::DataError("this is not a checkpoint of ranklab; name another folder");
    const auto schema = number_after(header, "\nschema ");
    if (schema != 0 && schema != static_cast<std::size_t>(kSchema))
        throw base::DataError(
            fmt::format("the checkpoint has schema {}, and this ranklab reads {}; use the version "
                        "that wrote it, or begin anew",
                        schema, kSchema));
    const std::size_t image = number_after(header, " on: ");
    if (header.size() < kHeader || image > bytes.size() - kHeader ||
        header != header_of(bytes.subspan(kHeader), image))
        damaged();
    return image;
}

// Writes arrays into the group and returns their entries in the index.
Json write_arrays(const hdf5::Group& group, const std::vector<NamedArray>& arrays) {
    Json entries = Json::array();
    for (const auto& [name, values] : arrays) {
        const auto begin = hdf5::write_typed(group, name, values);
        entries.push_back({{"name", name},
                           {"type", base::word_of(values.element)},
                           {"shape", values.shape},
                           {"begin", begin}});
    }
    return entries;
}

Json write_sets(const hdf5::Group& group, const std::vector<ArraySet>& sets) {
    Json entries = Json::array();
    for (const auto& [name, arrays] : sets)
        entries.push_back(
            {{"name", name}, {"arrays", write_arrays(group.create_large_group(name), arrays)}});
    return entries;
}

void write_settings(const hdf5::Group& root, const CheckpointSettings& settings) {
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const auto& [name, value] : settings) {
        names.push_back(name);
        values.push_back(value);
    }
    hdf5::write_table(root, "settings", {{"name", names}, {"value", values}});
}

std::vector<NamedArray> read_arrays(const Json& entries, std::span<const std::byte> image) {
    std::vector<NamedArray> arrays;
    for (const auto& entry : entries) {
        const auto element = base::element_named(entry.at("type").get<std::string>());
        if (!element) damaged();
        const auto shape = entry.at("shape").get<std::vector<std::int64_t>>();
        std::size_t bytes = base::size_of(*element);
        for (const std::int64_t extent : shape) {
            if (extent < 0 ||
                (extent > 0 && bytes > image.size() / static_cast<std::size_t>(extent)))
                damaged();
            bytes *= static_cast<std::size_t>(extent);
        }
        const auto begin = entry.at("begin").get<std::size_t>();
        if (begin > image.size() || bytes > image.size() - begin) damaged();
        const auto values = image.subspan(begin, bytes);
        arrays.push_back({entry.at("name").get<std::string>(),
                          {*element, shape, {values.begin(), values.end()}}});
    }
    return arrays;
}

std::vector<ArraySet> read_sets(const Json& entries, std::span<const std::byte> image) {
    std::vector<ArraySet> sets;
    for (const auto& entry : entries)
        sets.push_back(
            {entry.at("name").get<std::string>(), read_arrays(entry.at("arrays"), image)});
    return sets;
}

}  // namespace

void check_same_settings(const CheckpointSettings& now, const CheckpointSettings& stored) {
    const auto value_in = [](const CheckpointSettings& settings, const std::string& name) {
        const auto found = settings.find(name);
        return found == settings.end() ? "none" : found->second;
    };
    CheckpointSettings all = now;
    all.insert(stored.begin(), stored.end());
    std::vector<std::string> differences;
    for (const auto& [name, value] : all) {
        const auto here = value_in(now, name);
        const auto there = value_in(stored, name);
        if (here != there)
            differences.push_back(fmt::format("{} {} (now {})", base::printable(name, 80),
                                              base::printable(there, 80),
                                              base::printable(here, 80)));
    }
    if (differences.empty()) return;
    throw base::OptionError(fmt::format(
        "the run of the checkpoint had {}; give the same, or name another folder with --checkpoint",
        fmt::join(differences, ", ")));
}

Bytes encode(const Checkpoint& checkpoint) {
    // Loader threads may read volumes through HDF5 meanwhile.
    const std::lock_guard lock(hdf5::library_mutex());
    hdf5::File file = hdf5::File::create_in_memory();
    const hdf5::Group root = file.root();
    root.set_int("ranklab_checkpoint_schema", kSchema);
    root.set_int("completed_steps", checkpoint.completed_steps);
    write_settings(root, checkpoint.settings);
    Json index;
    index["completed_steps"] = checkpoint.completed_steps;
    index["settings"] = checkpoint.settings;
    index["parameters"] =
        write_arrays(root.create_large_group("parameters"), checkpoint.parameters);
    index["buffers"] = write_arrays(root.create_large_group("buffers"), checkpoint.buffers);
    index["optimizer"] = write_sets(root.create_large_group("optimizer"), checkpoint.optimizer);
    index["ranks"] = write_sets(root.create_large_group("ranks"), checkpoint.ranks);
    Bytes bytes = file.image();
    file.close();
    const std::size_t image = bytes.size();
    const auto append = [&bytes](auto place, const std::string& text) {
        const auto added = std::as_bytes(std::span(text));
        bytes.insert(place, added.begin(), added.end());
    };
    append(bytes.end(), index.dump(-1, ' ', false, Json::error_handler_t::replace));
    append(bytes.begin(), header_of(bytes, image));
    return bytes;
}

Checkpoint decode(std::span<const std::byte> bytes) {
    const std::size_t size = checked_image_size(bytes);
    const auto image = bytes.subspan(kHeader, size);
    Checkpoint checkpoint;
    try {
        const Json index = Json::parse(text_of(bytes.subspan(kHeader + size)));
        checkpoint.completed_steps = index.at("completed_steps").get<std::int64_t>();
        checkpoint.settings = index.at("settings").get<CheckpointSettings>();
        checkpoint.parameters = read_arrays(index.at("parameters"), image);
        checkpoint.buffers = read_arrays(index.at("buffers"), image);
        checkpoint.optimizer = read_sets(index.at("optimizer"), image);
        checkpoint.ranks = read_sets(index.at("ranks"), image);
    } catch (const Json::exception&) {
        damaged();
    }
    if (checkpoint.completed_steps < 1) damaged();
    return checkpoint;
}

CheckpointFile::CheckpointFile(const fs::path& folder) : path_(folder / "checkpoint.h5") {}

void CheckpointFile::prepare(std::uint64_t expected_bytes) const {
    std::error_code error;
    fs::create_directories(path_.parent_path(), error);
    if (error) base::throw_errno("mkdir", path_.parent_path(), error.value(), kSetting);
    if (const auto kind = base::irregular_kind(path_); !kind.empty())
        throw base::OptionError(
            fmt::format("{} is {}, not a file; name another folder", path_.string(), kind),
            {kSetting});
    results::remove_leftovers(path_);
    results::StagedFile(path_, kSetting).reserve(expected_bytes);
}

std::optional<Bytes> CheckpointFile::read() const {
    const auto file = base::open_regular<base::DataError>(path_, O_RDONLY);
    if (!file && errno == ENOENT) return std::nullopt;
    if (!file) base::throw_read_errno("open", path_, errno, kSetting);
    Bytes bytes(fs::file_size(path_));
    const auto read = base::read_whole(file.get(), bytes);
    if (!read) base::throw_read_errno("read", path_, errno, kSetting);
    bytes.resize(*read);
    return bytes;
}

bool CheckpointFile::set_aside_first() {
    std::error_code error;
    sets_aside_ = fs::exists(path_, error);
    return sets_aside_;
}

void CheckpointFile::write(std::span<const std::byte> bytes) {
    results::StagedFile staged(path_, kSetting);
    staged.reserve(bytes.size());
    staged.write(bytes);
    std::error_code error;
    const fs::path previous = path_.parent_path() / kPrevious;
    if (sets_aside_) fs::rename(path_, previous, error);
    if (error) base::throw_errno("rename", previous, error.value(), kSetting);
    sets_aside_ = false;
    staged.commit();
}

}  // namespace ranklab::experiments
