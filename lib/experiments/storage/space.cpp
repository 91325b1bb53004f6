// Whether what the options ask for can be: room, memory, processes.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/error.hpp"
#include "base/file_system.hpp"
#include "experiments/storage/options.hpp"
#include "host/process.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;

constexpr long double kGB = 1e9L;
// From here on, what a file system could never hold is a slip of the options, not a disk that is too small.
constexpr long double kAbsurd = 1e12L;

// The nearest folder that exists: the room is its file system's.
fs::path existing_parent(const fs::path& path) {
    std::error_code error;
    fs::path folder = fs::absolute(path, error);
    while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
    return folder;
}

struct Room {
    fs::path folder;
    long double whole = std::numeric_limits<long double>::infinity();
    long double free = std::numeric_limits<long double>::infinity();
};

// Unlimited where the system does not say: what makes the folder says what is wrong with it.
Room room_at(const fs::path& directory) {
    Room room{.folder = existing_parent(directory)};
    std::error_code unknown;
    const auto space = fs::space(room.folder, unknown);
    if (unknown) return room;
    room.whole = static_cast<long double>(space.capacity);
    room.free = static_cast<long double>(space.available);
    return room;
}

void check_memory(const StorageOptions& options) {
    const auto size = static_cast<long double>(options.job.size);
    const long double bytes = size * size * 8;
    const long double memory = static_cast<long double>(host::memory_bytes());
    if (bytes <= memory) return;
    throw base::OptionError(fmt::format(
        "one record of --size {0} is {0} x {0} x 8 B = {1:.6g} GB, and this node has {2:.3g} GB of "
        "memory; take a smaller --size",
        options.job.size, bytes / kGB, memory / kGB));
}

// A worker with nothing to do: its program and its libraries, measured.
constexpr long double kWorkerBytes = 3.0L * 1024 * 1024;
// In a worker at once: of a record both meshgrids and its values.
constexpr long double kRecordsInAWorker = 3;
// Descriptors that a rank has beside its workers' pipes.
constexpr std::int64_t kOtherDescriptors = 64;

// More processes there are not on a node; where the system does not say, that is its business.
std::int64_t most_processes() {
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::ifstream("/proc/sys/kernel/pid_max") >> most;
    return most;
}

std::int64_t most_pipes() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return std::numeric_limits<std::int64_t>::max();
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) - kOtherDescriptors);
}

void check_workers(const StorageOptions& options) {
    if (!options.entry.processes) return;
    const std::int64_t workers = options.job.workers;
    if (workers > most_processes() || workers > most_pipes())
        throw base::EnvironmentError(fmt::format(
            "--workers {} are more than one rank may have here: {} processes (kernel.pid_max) and "
            "a pipe to each, {} of them (ulimit -n leaves {} for all else); use fewer --workers, or raise "
            "the limit",
            workers, most_processes(), most_pipes(), kOtherDescriptors));
    const long double each =
        kWorkerBytes + kRecordsInAWorker * 8 * static_cast<long double>(options.job.values_per_record());
    if (static_cast<long double>(workers) * each <= static_cast<long double>(host::memory_bytes())) return;
    throw base::OptionError(
        fmt::format("--workers {} of {} need {:.3g} GB of memory, and this node has {:.3g} GB; use fewer "
                    "--workers or a smaller --size",
                    workers, options.entry.name, static_cast<long double>(workers) * each / kGB,
                    static_cast<long double>(host::memory_bytes()) / kGB));
}

}  // namespace

Footprint footprint(const io::Job& job, const io::StrategyEntry& strategy) {
    const bool text = strategy.extension == ".txt";
    const auto size = static_cast<long double>(job.size);
    const long double bytes = static_cast<long double>(job.files) * size * size * (text ? 25 : 8);
    return {bytes, fmt::format("{} records x {} x {} values x {} B = {:.6g} GB", job.files, job.size,
                               job.size, text ? 25 : 8, bytes / kGB)};
}

void check_fits(const StorageOptions& options) {
    check_memory(options);
    check_workers(options);
    const Footprint needed = footprint(options.job, options.entry);
    const Room room = room_at(options.job.directory);
    if (needed.records <= std::max(room.whole, kAbsurd)) return;
    throw base::OptionError(fmt::format(
        "{} needs {}, and all of the file system of {} is {:.6g} GB; take fewer --files or a smaller "
        "--size",
        options.entry.name, needed.arithmetic, room.folder.string(), room.whole / kGB));
}

void check_room(const StorageOptions& options) {
    const Footprint needed = footprint(options.job, options.entry);
    const Room room = room_at(options.job.directory);
    if (needed.records <= room.free) return;
    if (!(room.whole > 0))
        throw base::OptionError(
            fmt::format("{} is on a file system that stores no files ({}); name another place with "
                        "--directory",
                        room.folder.string(), base::file_system_at(room.folder).name));
    throw base::EnvironmentError(
        fmt::format("{} needs {}, and {} has {:.6g} GB free; free some space, or name another place with "
                    "--directory",
                    options.entry.name, needed.arithmetic, room.folder.string(), room.free / kGB));
}

}  // namespace ranklab::experiments
