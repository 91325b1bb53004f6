#include "results/replace.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <string_view>
#include <tuple>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "results/file_lock.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

// Which of its versions a file is: each rename brings a new inode. Opened, since NFS asks its server then.
using Version = std::tuple<dev_t, ino_t, off_t, time_t, long>;
Version version_of(const fs::path& path) {
    const Descriptor file = base::try_open_regular(path, O_RDONLY).file;
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return {};
    return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
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

// True when the file is replaced; false when another was faster.
bool replace_once(const fs::path& target, const std::function<void(const Staging&)>& fill, Waiting& waiting) {
    const FileLock lock(target, waiting);
    remove_leftovers(target);
    const bool fresh = !regular_file_exists(target);
    if (!fresh) check_not_write_protected(target);
    const Version before = version_of(target);
    StagedFile staged(target);
    try {
        fill({target, staged, fresh});
    } catch (const base::Hdf5Error& error) {
        if (const int reason = system_error_in(error.what()); reason != 0)
            throw_errno("HDF5", target, reason);
        throw base::DataError(fmt::format(
            "{}: HDF5 cannot make its next version, so this file, or one that goes into it, is damaged; "
            "`ranklab results check` says where. If it finds nothing, `ranklab results export` writes the "
            "runs into a sound file ({})",
            target.string(), error.what()));
    }
    staged.flush();  // takes its time, and what is asked now shall hold until the rename
    if (!lock.still_ours() || version_of(target) != before) return false;
    staged.commit();
    return true;
}

}  // namespace

void replace(const fs::path& path, const std::function<void(const Staging&)>& fill, const LockWait& wait) {
    constexpr int kMostTries = 10;
    const fs::path target = resolve(path);
    static_cast<void>(regular_file_exists(target));  // no lock beside a device or a folder
    make_parent_folders(target);
    Waiting waiting(wait);
    for (int tries = 0; tries < kMostTries; ++tries) {
        if (replace_once(target, fill, waiting)) return;
    }
    throw base::EnvironmentError(
        fmt::format("{} was changed by others {} times while ranklab wrote its next version; does something "
                    "remove its lock {}.owner.lock?",
                    target.string(), kMostTries, target.string()));
}

}  // namespace ranklab::results
