#include "results/places.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.hpp"
#include "base/regular_file.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the kernel's own limit

[[noreturn]] void refuse(Access access, const char* call, const fs::path& path, int error) {
    if (access == Access::read) throw_read_errno(call, path, error);
    throw_errno(call, path, error);
}

}  // namespace

fs::path resolve(const fs::path& path, Access access) {
    if (path.filename().empty() || path.filename() == "." || path.filename() == "..")
        throw base::OptionError(
            fmt::format("'{}' names a folder; name a file, such as results/ranklab.h5", path.string()),
            access == Access::read ? base::Settings{} : base::Settings{"output"});
    std::error_code error;
    fs::path resolved = fs::absolute(path, error);
    if (error) refuse(access, "getcwd", path, error.value());
    for (int links = 0; fs::is_symlink(fs::symlink_status(resolved, error)); ++links) {
        const fs::path target = fs::read_symlink(resolved, error);
        if (error || links == kMostLinks) refuse(access, "readlink", path, error ? error.value() : ELOOP);
        resolved = resolved.parent_path() / target;  // an absolute target replaces the whole
    }
    return resolved;
}

bool regular_file_exists(const fs::path& resolved, Access access) {
    struct stat status {};
    if (::stat(resolved.c_str(), &status) != 0) {
        if (errno == ENOENT) return false;
        refuse(access, "stat", resolved, errno);
    }
    if (S_ISREG(status.st_mode)) return true;
    throw base::OptionError(
        fmt::format("{} is {}, not a results file: name a file, such as results/ranklab.h5",
                    resolved.string(), base::irregular_kind(resolved)));
}

void make_parent_folders(const fs::path& resolved) {
    std::error_code error;
    fs::create_directories(resolved.parent_path(), error);
    if (error) throw_errno("mkdir", resolved.parent_path(), error.value());
}

void check_not_write_protected(const fs::path& resolved, const char* setting) {
    if (::faccessat(AT_FDCWD, resolved.c_str(), W_OK, AT_EACCESS) != 0)
        throw_errno("access", resolved, errno, setting);
}

void check_free_space(const fs::path& resolved, std::uint64_t bytes) {
    struct statvfs status {};
    const fs::path folder = resolved.parent_path();
    if (::statvfs(folder.c_str(), &status) != 0) throw_errno("statvfs", folder, errno);
    if (status.f_bavail < bytes / status.f_frsize) throw_errno("statvfs", folder, ENOSPC);
}

bool is_named(const Descriptor& file, const fs::path& path) {
    struct stat ours {};
    struct stat theirs {};
    return ::fstat(file.get(), &ours) == 0 && ::lstat(path.c_str(), &theirs) == 0 &&
           ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

}  // namespace ranklab::results
