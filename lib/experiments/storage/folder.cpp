#include "experiments/storage/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::experiments {

namespace fs = std::filesystem;

namespace {

// Bytes. Records larger than this and than the whole file system are an OptionError. Smaller
// records that do not fit are an EnvironmentError when the run starts, since the disk is full.
constexpr long double kAbsurd = 1e12L;

struct Room {
    fs::path folder;  // the directory, or its nearest parent that exists
    long double whole = 0;
    long double free = 0;
};

// If the system does not report sizes, `whole` and `free` are 2^64 - 1 bytes.
Room room_at(const fs::path& directory) {
    std::error_code error;
    fs::path folder = fs::absolute(directory, error);
    while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
    const auto space = fs::space(folder, error);
    return {folder, static_cast<long double>(space.capacity),
            static_cast<long double>(space.available)};
}

void check_room(const StorageOptions& options) {
    const Footprint needed = footprint(options, options.entry);
    const Room room = room_at(options.directory);
    if (needed.records <= room.free) return;
    throw base::EnvironmentError(
        fmt::format("{} needs {}, and {} has {} free; free some space, or give another --directory",
                    options.entry.name, needed.arithmetic, room.folder.string(),
                    base::human_bytes(static_cast<double>(room.free))));
}

// Returns the number of the record whose file has this name, or nullopt if there is none.
std::optional<std::int64_t> record_in(const fs::path& path, const io::StrategyEntry& strategy) {
    const std::string stem = path.stem().string();
    if (path.extension() != strategy.extension || !stem.starts_with("data")) return std::nullopt;
    if (strategy.shared_file) return stem == "data" ? std::optional<std::int64_t>(0) : std::nullopt;
    const auto id = base::number_in<std::int64_t>(stem.substr(4));
    return id && stem == io::record_name(*id) ? id : std::nullopt;
}

// Returns the file that marks a folder as ranklab's, one per extension. The file holds a number:
// ranklab io wrote the records below this number.
fs::path mark_of(const StorageOptions& options) {
    return options.folder() / (".ranklab-io" + options.entry.extension);
}

std::int64_t read_mark(const StorageOptions& options) {
    std::int64_t below = 0;
    std::ifstream(mark_of(options)) >> below;
    return below;
}

void write_mark(const StorageOptions& options, std::int64_t below) {
    const auto path = mark_of(options);
    const auto file = base::open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
    if (!file || !base::write_whole(file.get(), fmt::format("{}\n", below)))
        base::throw_errno("write", path, errno, "directory");
}

// Returns a limit: the strategy replaces and removes the records with smaller numbers.
std::int64_t replaced_below(const StorageOptions& options) {
    return options.entry.shared_file ? 1 : options.files;
}

// Calls found(path, number) for each file in the folder that has the name of one of the strategy's
// records, if the record's number is smaller than `below`.
void for_each_record(const StorageOptions& options, std::int64_t below, const auto& found) {
    std::error_code unknown;
    for (fs::directory_iterator at(options.directory, unknown), end; at != end;
         at.increment(unknown))
        if (const auto number = record_in(at->path(), options.entry);
            number && *number < below && !at->is_directory(unknown))
            found(at->path(), *number);
}

void need_records(const StorageOptions& options) {
    const fs::path first = options.folder() / ((options.entry.shared_file ? "data" : "data00000") +
                                               options.entry.extension);
    std::error_code unknown;
    if (fs::exists(first, unknown)) return;
    throw base::DataError(fmt::format("there is no {}; first write it with --strategy {} --keep",
                                      first.string(), options.entry.name));
}

}  // namespace

Footprint footprint(const io::Job& job, const io::StrategyEntry& strategy) {
    const auto size = static_cast<long double>(job.size);
    const auto bytes = static_cast<long double>(job.files) * size * size * strategy.bytes_per_value;
    return {bytes,
            fmt::format("{} records x {} x {} values x {} B = {}", job.files, job.size, job.size,
                        strategy.bytes_per_value, base::human_bytes(static_cast<double>(bytes)))};
}

void check_fits(const StorageOptions& options) {
    const Footprint needed = footprint(options, options.entry);
    const Room room = room_at(options.directory);
    if (needed.records <= std::max(room.whole, kAbsurd)) return;
    throw base::OptionError(
        fmt::format("{} needs {}, and the file system of {} has {} in all; take fewer --files "
                    "or a smaller --size",
                    options.entry.name, needed.arithmetic, room.folder.string(),
                    base::human_bytes(static_cast<double>(room.whole))));
}

void check_files(const StorageOptions& options) {
    const auto ours = read_mark(options);
    for_each_record(options, replaced_below(options), [&](const fs::path& path, auto number) {
        if (number >= ours)
            throw base::OptionError(
                fmt::format("{} would replace {}, which ranklab io did not write; move or remove "
                            "it, or give another --directory",
                            options.entry.name, path.string()));
    });
}

StorageFolder::StorageFolder(comm::Communicator& control, const StorageOptions& options)
    : control_(control), options_(options) {
    comm::all_or_throw(control_, [&] {
        if (control_.rank() != 0) return;
        if (options_.write()) check_room(options_);
        make(options_.directory);
        // With several strategies, each has its own folder in --directory.
        const bool is_of_several = options_.folder().filename().string() == options_.entry.name;
        if (made_.size() > (is_of_several ? 2U : 1U) && !options_.common.quiet)
            base::log::info(fmt::format("{} did not exist; made it and the folder {}",
                                        made_.back().string(), made_.front().string()));
        if (!options_.write()) return need_records(options_);
        if (::access(options_.directory.c_str(), W_OK | X_OK) != 0)
            base::throw_errno("access", options_.directory, errno, "directory");
        write_mark(options_, std::max(read_mark(options_), replaced_below(options_)));
    });
    comm::all_or_throw(control_, [&] {  // makes a folder that is local to each node
        if (control_.rank() != 0 && options_.write()) make(options_.directory);
    });
}

StorageFolder::~StorageFolder() {
    if (!options_.write()) return;
    std::error_code ignored;  // remove() fails for a folder that is not empty
    if (control_.rank() == 0) {
        bool any = false;  // any record is there, kept or left by a failure
        for_each_record(options_, read_mark(options_), [&](const auto&, auto) { any = true; });
        if (!any) fs::remove(mark_of(options_), ignored);
    }
    if (options_.keep) return;
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
