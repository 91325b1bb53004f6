// Private to this room: opening a results file to read, with every failure as a sentence that names it.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <mutex>

#include "base/error.hpp"
#include "hdf5/file.hpp"
#include "results/replace.hpp"
#include "results/result_file.hpp"
#include "results/store.hpp"

namespace ranklab::results {

/// Calls it; an error of HDF5 is damaged data, and every sentence names the file.
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

/// Calls it for one run; an error of HDF5 or of a reader is that run's damage.
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

/// An HDF5 file of our schema, open to read. OptionError where there is none.
inline hdf5::File open_results(const std::filesystem::path& path) {
    if (!results_file_exists(path))
        throw base::OptionError(
            fmt::format("there is no results file {}; is its name spelt right?", path.string()));
    if (!hdf5::is_hdf5(path))
        throw base::DataError("this is not an HDF5 file, so not a results file; name another");
    hdf5::File file = hdf5::File::open_to_read(path);
    check_schema(file);
    return file;
}

/// Opens the file for `read(the group /runs)`.
template <class Read>
auto reading(const std::filesystem::path& path, Read read) {
    const std::lock_guard lock(hdf5::library_mutex());
    return speaking_of(path, [&] {
        const hdf5::File file = open_results(path);
        return read(file.root().open_group("runs"));
    });
}

}  // namespace ranklab::results
