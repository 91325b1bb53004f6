// Private to this room: the schema in HDF5, and how a results file is read and changed.
#pragma once

#include <fmt/format.h>

#include <cstddef>
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

/// Whether there is a regular file. OptionError where there is a folder, a device or a pipe.
bool results_file_exists(const std::filesystem::path& path);

/// An HDF5 file of our schema, open to read. OptionError where there is none.
hdf5::File open_results(const std::filesystem::path& path);

/// Calls it; an error of HDF5 is damaged data, and every sentence names the file.
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

/// Calls it for one run; an error of HDF5 or of a reader is that run's damage.
template <class Call>
auto of_run(const std::filesystem::path& file, const std::string& id, Call call) {
    try {
        return call();
    } catch (const base::Error& error) {
        throw RunDamage(file, id, error.what());
    }
}

/// A run of an open file, whose group of runs is given.
Run load_run(const std::filesystem::path& file, const hdf5::Group& runs, const std::string& id,
             Detail detail = Detail::all);

/// Opens the file for `read(the group /runs)`.
template <class Read>
auto reading(const std::filesystem::path& path, Read read) {
    const std::lock_guard lock(hdf5::library_mutex());
    return with_file_context(path, [&] {
        const hdf5::File file = open_results(path);
        return read(file.root().open_group("runs"));
    });
}

/// Passed to `fill`, which writes the next version of `target` (links resolved) into `staged`;
/// `fresh`: there is no file yet.
struct Staging {
    const std::filesystem::path& target;
    StagedFile& staged;
    bool fresh;
};

/// Locks the file, has `fill` write its next version in the same folder, and puts that in its place
/// in one step. EnvironmentError where another process holds the lock for longer than
/// `lock_timeout_s`; Interrupted where a stop signal comes while the lock is waited for. After any
/// error the file is what it was.
void replace(const std::filesystem::path& path, double lock_timeout_s,
             const std::function<void(const Staging&)>& fill);

/// EnvironmentError where the file system of that open file has no locks.
void check_lockable(const Descriptor& file, const std::filesystem::path& target);

inline constexpr std::int64_t kSchema = 1;
/// The axis of a measurement that has one value in a run; it is stored only as its row in
/// `measurements`.
inline constexpr const char* kAxisOfRun = "run";

/// Makes an empty results file, replacing another: the root's attributes and /runs. It stays open,
/// so that a first run shares the file's blocks with it. `created_utc` "": now.
hdf5::File create_empty(const std::filesystem::path& path, const std::string& created_utc = "");

/// Whether `name` can be a link's in HDF5, where '/' separates a path and '.' is the group itself.
bool is_link_name(const std::string& name);

/// DataError where the open file is not one of this schema.
void check_schema(const hdf5::File& file);

/// Adds a run below /runs. base::Error where the run itself cannot be stored: an id or a name is
/// empty, repeated or has a '/', or samples do not fit their columns.
void store(const hdf5::Group& runs, const Run& run);

/// More bytes than store will add to the file.
std::uint64_t stored_bytes_at_most(const Run& run);

}  // namespace ranklab::results
