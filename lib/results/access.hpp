// Private to lib/results: the HDF5 schema, and how a results file is opened and replaced.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

#include "base/error.hpp"
#include "hdf5/file.hpp"
#include "results/result_file.hpp"
#include "results/run.hpp"
#include "results/staged_file.hpp"

namespace ranklab::results {

/// Whether there is a regular file. Throws OptionError for a folder, a device or a pipe.
bool results_file_exists(const std::filesystem::path& path);

/// Opens a results file to read. Throws OptionError if the file is missing, DataError if it is not
/// a results file.
hdf5::File open_results(const std::filesystem::path& path);

/// Calls `call`. Turns an Hdf5Error into a DataError, and adds the file's name to a DataError.
template <class Call>
auto with_file_context(const std::filesystem::path& path, Call call) {
    try {
        return call();
    } catch (const base::Hdf5Error& error) {
        throw base::DataError(
            fmt::format("{}: the file is damaged or cut short; restore it or name another ({})",
                        path.string(), error.what()));
    } catch (const RunDamage&) {
        throw;
    } catch (base::DataError& error) {
        error.add_context(path.string());
        throw;
    }
}

/// Calls `call`, which reads one run. Turns any error into RunDamage.
template <class Call>
auto of_run(const std::filesystem::path& file, const std::string& id, Call call) {
    try {
        return call();
    } catch (const base::Error& error) {
        throw RunDamage(file, id, error.what());
    }
}

/// Reads a run from the group /runs of an open file.
Run load_run(const std::filesystem::path& file, const hdf5::Group& runs, const std::string& id,
             Detail detail = Detail::all);

/// Opens the file and calls `read` with its group /runs.
template <class Read>
auto reading(const std::filesystem::path& path, Read read) {
    const std::lock_guard lock(hdf5::library_mutex());
    return with_file_context(path, [&] {
        const hdf5::File file = open_results(path);
        return read(file.root().open_group("runs"));
    });
}

/// Locks the file, lets `fill` write a new version beside it, and renames that into place. `fresh`:
/// the file does not exist yet. Throws EnvironmentError if the lock is not free within
/// `lock_timeout_s` seconds, Interrupted if a stop signal ends the wait. Any error leaves the file
/// unchanged.
void replace(const std::filesystem::path& path, double lock_timeout_s,
             const std::function<void(StagedFile& staged, bool fresh)>& fill);

/// Throws if something that cannot be locked has the name FILE.lock.
void check_lock_file(const std::filesystem::path& target);

/// Throws EnvironmentError if the open file's file system has no locks.
void check_lockable(const Descriptor& file, const std::filesystem::path& target);

inline constexpr std::int64_t kSchema = 1;
/// The axis of a measurement with one value per run, of which only the summary is stored.
inline constexpr const char* kAxisOfRun = "run";
/// Makes an empty results file, replacing any file at `path`. Leaves it open, so that the first run
/// uses the rest of the root group's block of HDF5 metadata.
hdf5::File create_empty(const std::filesystem::path& path);

/// Whether `name` can name an object in HDF5, where '/' separates paths and '.' is the group
/// itself.
bool is_link_name(const std::string& name);

/// Throws DataError if the file does not have this schema.
void check_schema(const hdf5::File& file);

/// Adds a run below /runs. Throws base::Error if samples do not fit their columns.
void store(const hdf5::Group& runs, const Run& run);

/// Upper bound of HDF5's metadata, which grows in blocks of up to 64 KiB.
inline constexpr std::uint64_t kMetadataBytes = 256 << 10;

}  // namespace ranklab::results
