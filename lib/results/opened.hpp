// Private to this room: opening a results file to read, with every failure as a sentence that names it.
#pragma once

#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "hdf5/file.hpp"
#include "hdf5/library_use.hpp"
#include "results/places.hpp"
#include "results/result_file.hpp"
#include "results/store.hpp"

namespace ranklab::results {

/// Calls it; whatever HDF5 stumbles over is damaged data, and every sentence names the file.
template <class Call>
auto speaking_of(const std::filesystem::path& path, Call call) {
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

/// Calls it for one run; whatever HDF5 or a reader stumbles over is that run's damage.
template <class Call>
auto of_run(const std::filesystem::path& file, const std::string& id, Call call) {
    try {
        return call();
    } catch (const base::Hdf5Error& error) {
        throw RunDamage(file, id, error.what());
    } catch (const base::DataError& error) {
        throw RunDamage(file, id, error.what());
    }
}

/// An HDF5 file of our schema, open to read.
inline hdf5::File open_results(const std::filesystem::path& path) {
    if (!hdf5::is_hdf5(path))
        throw base::DataError("this is not an HDF5 file, so not a results file; name another");
    hdf5::File file = hdf5::File::open_to_read(path);
    check_schema(file);
    return file;
}

/// Opens the file for `read(the group /runs)`.
template <class Read>
auto opened(const std::filesystem::path& path, Read read) {
    const hdf5::LibraryUse use(path.string());
    return speaking_of(path, [&] {
        const hdf5::File file = open_results(path);
        return read(file.root().open_group("runs"));
    });
}

/// The path that links lead to, where there is a file to read.
inline std::filesystem::path existing(const std::filesystem::path& path) {
    std::filesystem::path resolved = resolve(path, Access::read);
    if (!regular_file_exists(resolved, Access::read))
        throw base::OptionError(
            fmt::format("there is no results file {}; is its name spelt right?", path.string()));
    return resolved;
}

/// The same for a file that must be there.
template <class Read>
auto reading(const std::filesystem::path& path, Read read) {
    return opened(existing(path), read);
}

}  // namespace ranklab::results
