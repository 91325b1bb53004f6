#include "results/result_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "hdf5/file.hpp"
#include "hdf5/heap_check.hpp"
#include "hdf5/library_mutex.hpp"
#include "results/file_lock.hpp"
#include "results/places.hpp"
#include "results/staged_file.hpp"
#include "results/store.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

// Opens the file for `read`; whatever HDF5 stumbles over is damaged data, and every sentence names the file.
template <class Read>
auto opened(const fs::path& path, Read read) {
    const std::lock_guard lock(hdf5::library_mutex());
    try {
        if (!hdf5::is_hdf5(path))
            throw base::DataError("this is not an HDF5 file, so not a results file; name another");
        const hdf5::File file = hdf5::File::open_to_read(path);
        check_schema(file);
        return read(file.root().open_group("runs"));
    } catch (const base::Hdf5Error& error) {
        throw base::DataError(
            fmt::format("{}: the file is damaged or cut short; restore it or name another ({})",
                        path.string(), error.what()));
    } catch (base::DataError& error) {
        error.add_context(path.string());
        throw;
    }
}

// For reading, the file must be there, and its texts are looked over first.
template <class Read>
auto reading(const fs::path& path, Read read) {
    const fs::path resolved = resolve(path);
    if (!regular_file_exists(resolved))
        throw base::OptionError(
            fmt::format("there is no results file {}; is its name spelt right?", path.string()));
    return opened(resolved, [&](const hdf5::Group& runs) {
        hdf5::check_text_heaps(resolved);
        return read(runs);
    });
}

void check_existing(const fs::path& path) {
    check_not_write_protected(path);
    opened(path, [](const hdf5::Group&) { return true; });
}

// HDF5 quotes the system's error as "errno = 28"; 0 where the failure was not the system's.
int system_error_in(std::string_view text) {
    constexpr std::string_view kMark = "errno = ";
    const std::size_t mark = text.find(kMark);
    int error = 0;
    if (mark != std::string_view::npos)
        std::from_chars(text.data() + mark + kMark.size(), text.data() + text.size(), error);
    return error;
}

void write_run(StagedFile& staged, bool fresh, const Run& run) {
    // A full disk shows here, not half-way through HDF5's writing. (Creating a file gives the room back
    // for a moment; should somebody else take it then, HDF5's error is as clear and harms nobody.)
    staged.reserve(stored_bytes_at_most(run));
    const std::lock_guard lock(hdf5::library_mutex());
    hdf5::File file = fresh ? create_empty(staged.path()) : hdf5::File::open_to_change(staged.path());
    store(file.root().open_group("runs"), run);
    file.close();
}

void check_stored(const fs::path& path, const std::string& id) {
    if (!opened(path, [&](const hdf5::Group& runs) { return runs.has(id); }))
        throw base::Error(fmt::format("run {} is not in {} after it was written", id, path.string()));
}

}  // namespace

ResultFile::ResultFile(fs::path path) : path_(std::move(path)) {}

void ResultFile::prepare(std::uint64_t expected_bytes) const {
    const fs::path target = resolve(path_);
    std::uint64_t size = 0;
    if (regular_file_exists(target)) {
        check_existing(target);
        size = fs::file_size(target);
    }
    make_parent_folders(target);
    FileLock::check_possible(target);
    const std::uint64_t room = expected_bytes + stored_bytes_at_most({});
    check_free_space(target, size + room);
    StagedFile(target).reserve(room);  // also shows whether the folder lets us make files
}

void ResultFile::append(const Run& run) const {
    const fs::path target = resolve(path_);
    static_cast<void>(regular_file_exists(target));  // no lock beside a device or a folder
    make_parent_folders(target);
    const FileLock lock(target);
    remove_leftovers(target);
    const bool fresh = !regular_file_exists(target);
    if (!fresh) check_existing(target);
    StagedFile staged(target);
    try {
        if (!fresh) staged.copy_target();
        write_run(staged, fresh, run);
        check_stored(staged.path(), run.id);
    } catch (const base::Hdf5Error& error) {
        if (const int reason = system_error_in(error.what()); reason != 0)
            throw_errno("HDF5", target, reason);
        throw;
    }
    staged.commit();
}

std::vector<RunHeader> ResultFile::runs() const {
    return reading(path_, [](const hdf5::Group& runs) {
        std::vector<RunHeader> headers;
        for (const auto& id : runs.members()) headers.push_back(load_header(runs, id));
        return headers;
    });
}

Run ResultFile::read(const std::string& id, Detail detail) const {
    const bool plain = !id.empty() && id.find_first_of("/.") == std::string::npos;
    return reading(path_, [&](const hdf5::Group& runs) {
        if (!plain || !runs.has(id))
            throw base::OptionError(fmt::format("{} has no run '{}'; `ranklab report {}` lists them",
                                                path_.string(), id, path_.string()));
        return load(runs, id, detail);
    });
}

std::vector<Run> ResultFile::read_all(Detail detail) const {
    return reading(path_, [&](const hdf5::Group& runs) {
        std::vector<Run> all;
        for (const auto& id : runs.members()) all.push_back(load(runs, id, detail));
        return all;
    });
}

void ResultFile::visit(Detail detail, const std::function<bool(const Run&)>& wanted,
                       const std::function<void(Run&&)>& take) const {
    reading(path_, [&](const hdf5::Group& runs) {
        for (const auto& id : runs.members()) {
            if (wanted && !wanted(load(runs, id, Detail::settings))) continue;
            take(load(runs, id, detail));
        }
        return 0;
    });
}

}  // namespace ranklab::results
