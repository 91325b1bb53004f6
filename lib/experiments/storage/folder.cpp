#include "experiments/storage/folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <regex>
#include <system_error>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "hdf5/file.hpp"
#include "host/process.hpp"

namespace ranklab::experiments {

namespace fs = std::filesystem;

namespace {

constexpr long double kGB = 1e9L;
// Bytes. Records above this and above the size of the file system are an OptionError. If smaller
// records do not fit, the disk is full: an EnvironmentError when the run starts.
constexpr long double kAbsurd = 1e12L;

struct Room {
    fs::path folder;  // the nearest that exists
    long double whole = 0;
    long double free = 0;
};

// If the system does not report the sizes, both are 2^64 - 1 bytes.
Room room_at(const fs::path& directory) {
    std::error_code error;
    fs::path folder = fs::absolute(directory, error);
    while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
    const auto space = fs::space(folder, error);
    return {folder, static_cast<long double>(space.capacity),
            static_cast<long double>(space.available)};
}

void check_memory(const StorageOptions& options) {
    const auto bytes = 8 * static_cast<long double>(options.job.values_per_record());
    const auto memory = static_cast<long double>(host::memory_bytes());
    if (bytes <= memory) return;
    throw base::OptionError(fmt::format(
        "one record of --size {} takes {:.6g} GB, and this node has {:.3g} GB of memory; take a "
        "smaller --size",
        options.job.size, bytes / kGB, memory / kGB));
}

void check_room(const StorageOptions& options) {
    const Footprint needed = footprint(options.job, options.entry);
    const Room room = room_at(options.job.directory);
    if (needed.records <= room.free) return;
    throw base::EnvironmentError(fmt::format(
        "{} needs {}, and {} has {:.6g} GB free; free some space, or give another --directory",
        options.entry.name, needed.arithmetic, room.folder.string(), room.free / kGB));
}

std::string why_foreign_hdf5(const fs::path& path) try {
    if (!hdf5::is_hdf5(path)) return "is not an HDF5 file";
    const auto members = hdf5::File::open_to_read(path).root().members();
    return members == std::vector<std::string>{"output"}
               ? ""
               : "has other members than the group /output";
} catch (const base::Error& error) {
    return fmt::format("cannot be opened: {}", error.what());
}

// Returns why the file's first bytes are not a record's, or "". Accepts an empty file, which a
// killed run may leave.
std::string why_foreign_record(const fs::path& path) {
    std::string head(128, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file.gcount()));
    static const std::regex npy(
        "^.NUMPY[^]*'descr': '<f8', 'fortran_order': False, 'shape': \\((\\d+), \\1\\)");
    static const std::regex text("^-?\\d\\.\\d{18}e[+-]\\d\\d[ \\n]");
    const bool known =
        head.empty() || std::regex_search(head, path.extension() == ".npy" ? npy : text);
    return known ? "" : "does not begin like a record of ranklab io";
}

// Whether the strategy writes this file: data.h5, or data00000.npy up to the last record's name.
bool is_to_be_written(const fs::path& path, const StorageOptions& options) {
    const std::string stem = path.stem().string();
    if (!stem.starts_with("data") || path.extension() != options.entry.extension) return false;
    if (options.entry.shared_file) return stem == "data";
    const auto id = base::number_in<std::int64_t>(stem.substr(4));
    return id && *id < options.job.files;
}

void need_records(const StorageOptions& options) {
    const fs::path first =
        options.job.directory /
        ((options.entry.shared_file ? "data" : "data00000") + options.entry.extension);
    std::error_code unknown;
    if (options.job.files == 0 || fs::exists(first, unknown)) return;
    throw base::DataError(fmt::format("there is no {}; first write it with --strategy {} --keep",
                                      first.string(), options.entry.name));
}

}  // namespace

Footprint footprint(const io::Job& job, const io::StrategyEntry& strategy) {
    const auto size = static_cast<long double>(job.size);
    const auto bytes = static_cast<long double>(job.files) * size * size * strategy.bytes_per_value;
    return {bytes, fmt::format("{} records x {} x {} values x {} B = {:.6g} GB", job.files,
                               job.size, job.size, strategy.bytes_per_value, bytes / kGB)};
}

void check_fits(const StorageOptions& options) {
    check_memory(options);
    const Footprint needed = footprint(options.job, options.entry);
    const Room room = room_at(options.job.directory);
    if (needed.records <= std::max(room.whole, kAbsurd)) return;
    throw base::OptionError(fmt::format(
        "{} needs {}, and the file system of {} has {:.6g} GB in all; take fewer --files "
        "or a smaller --size",
        options.entry.name, needed.arithmetic, room.folder.string(), room.whole / kGB));
}

void check_files(const StorageOptions& options) {
    std::error_code unknown;
    for (const auto& entry : fs::directory_iterator(options.job.directory, unknown)) {
        if (!is_to_be_written(entry.path(), options)) continue;
        const auto why = options.entry.shared_file ? why_foreign_hdf5(entry.path())
                                                   : why_foreign_record(entry.path());
        if (why.empty()) continue;
        throw base::OptionError(fmt::format(
            "{} would replace {}, which {}; move or remove it, or give another --directory",
            options.entry.name, entry.path().string(), why));
    }
}

StorageFolder::StorageFolder(comm::Communicator& control, const StorageOptions& options)
    : control_(control), options_(options) {
    comm::all_or_throw(control_, [&] {
        if (control_.rank() != 0) return;
        if (options_.write()) check_room(options_);
        make(options_.job.directory);
        if (!options_.write()) return need_records(options_);
        const char* folder = options_.job.directory.c_str();
        if (::access(folder, W_OK | X_OK) != 0)
            base::throw_errno("access", folder, errno, "directory");
    });
}

StorageFolder::~StorageFolder() {
    if (control_.rank() != 0 || options_.keeps_files()) return;
    std::error_code ignored;  // a folder that is not empty stays
    for (const auto& path : made_) fs::remove(path, ignored);
}

void StorageFolder::make(const fs::path& path) {
    std::error_code error;
    const auto status = fs::status(path, error);
    if (fs::is_directory(status)) return;
    if (fs::exists(status))
        throw base::OptionError(
            fmt::format("{} is a file; give a folder as --directory", path.string()));
    if (error && error != std::errc::no_such_file_or_directory) {
        if (!options_.write()) base::throw_read_errno("stat", path, error.value(), "directory");
        base::throw_errno("stat", path, error.value(), "directory");
    }
    if (!options_.write())
        throw base::DataError(
            fmt::format("there is no folder {}; first write it with --keep", path.string()));
    if (path.has_parent_path()) make(path.parent_path());
    if (fs::create_directory(path, error)) made_.insert(made_.begin(), path);
    if (error) base::throw_errno("mkdir", path, error.value(), "directory");
}

}  // namespace ranklab::experiments
