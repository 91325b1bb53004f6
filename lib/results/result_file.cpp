#include "results/result_file.hpp"

#include <fmt/format.h>
#include <sys/file.h>

#include <utility>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/shell_path.hpp"
#include "hdf5/file.hpp"
#include "hdf5/library_use.hpp"
#include "results/file_lock.hpp"
#include "results/opened.hpp"
#include "results/places.hpp"
#include "results/replace.hpp"
#include "results/staged_file.hpp"
#include "results/store.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

void check_existing(const fs::path& path) {
    check_not_write_protected(path);
    opened(path, [](const hdf5::Group&) { return true; });
}

void write_run(const fs::path& target, StagedFile& staged, bool fresh, const Run& run) {
    // A full disk shows here, not half-way through HDF5's writing. (Creating a file gives the room back
    // for a moment; should somebody else take it then, HDF5's error is as clear and harms nobody.)
    staged.reserve(stored_bytes_at_most(run));
    const hdf5::LibraryUse use(target.string());
    hdf5::File file = fresh ? create_empty(staged.path()) : hdf5::File::open_to_change(staged.path());
    store(file.root().open_group("runs"), run);
    file.close();
}

void check_stored(const fs::path& path, const std::string& id) {
    if (!opened(path, [&](const hdf5::Group& runs) { return runs.has(id); }))
        throw base::Error(fmt::format("run {} is not in {} after it was written", id, path.string()));
}

Run whole_run(const fs::path& path, const hdf5::Group& runs, const std::string& id, Detail detail) {
    return of_run(path, id, [&] { return load(runs, id, detail); });
}

}  // namespace

RunDamage::RunDamage(fs::path in, std::string of, std::string reason)
    : DataError(fmt::format("{}: run {} is damaged ({})", in.string(), of, reason)),
      file(std::move(in)),
      id(std::move(of)),
      why(std::move(reason)) {}

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
    check_free_space(target, size + 2 * room);  // it lies there alone too, until it is stored (keeper.hpp)
    StagedFile(target).reserve(room);           // also shows whether the folder lets us make files
}

void ResultFile::append(const Run& run, const LockWait& wait) const {
    const auto fill = [&](const Staging& staging) {
        if (!staging.fresh) {
            check_existing(staging.target);
            staging.staged.copy_target();
        }
        write_run(staging.target, staging.staged, staging.fresh, run);
        check_stored(staging.staged.path(), run.id);
    };
    replace(path_, fill, wait);
}

Descriptor write_alone(const fs::path& path, const Run& run) {
    StagedFile staged(path);
    write_run(path, staged, true, run);
    check_stored(staged.path(), run.id);
    Descriptor held = base::try_open_regular(staged.path(), O_RDWR, base::Links::refuse).file;
    if (held) static_cast<void>(::flock(held.get(), LOCK_EX | LOCK_NB));
    staged.commit();
    return held;
}

std::vector<RunHeader> ResultFile::runs() const {
    return reading(path_, [&](const hdf5::Group& runs) {
        std::vector<RunHeader> headers;
        for (const auto& id : runs.members())
            headers.push_back(of_run(path_, id, [&] { return load_header(runs, id); }));
        return headers;
    });
}

Run ResultFile::read(const std::string& id, Detail detail) const {
    return reading(path_, [&](const hdf5::Group& runs) {
        if (!is_link_name(id) || !runs.has(id))
            throw base::OptionError(fmt::format("{} has no run '{}'; `ranklab report {}` lists them",
                                                path_.string(), id, base::shell_path(path_.string())));
        return whole_run(path_, runs, id, detail);
    });
}

std::vector<Run> ResultFile::read_all(Detail detail) const {
    return reading(path_, [&](const hdf5::Group& runs) {
        std::vector<Run> all;
        for (const auto& id : runs.members()) all.push_back(whole_run(path_, runs, id, detail));
        return all;
    });
}

void ResultFile::visit(Detail detail, const std::function<bool(const Run&)>& wanted,
                       const std::function<void(Run&&)>& take) const {
    reading(path_, [&](const hdf5::Group& runs) {
        for (const auto& id : runs.members()) {
            if (wanted && !wanted(whole_run(path_, runs, id, Detail::settings))) continue;
            take(whole_run(path_, runs, id, detail));
        }
        return 0;
    });
}

}  // namespace ranklab::results
