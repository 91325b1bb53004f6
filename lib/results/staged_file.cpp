#include "results/staged_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "hdf5/file.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".tmp";
constexpr std::size_t kRandomDigits = 16;

std::string prefix_of(const fs::path& target) {
    return fmt::format(".{}.", target.filename().string());
}

// Matches the whole pattern: ".a.h5.0123456789abcdef.tmp" belongs to "a.h5", not to "a".
bool is_temporary_of(const std::string& name, const std::string& prefix) {
    if (name.size() != prefix.size() + kRandomDigits + kSuffix.size()) return false;
    const std::string digits = name.substr(prefix.size(), kRandomDigits);
    return name.starts_with(prefix) && name.ends_with(kSuffix) &&
           digits.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void sync(const Descriptor& descriptor, const fs::path& path, const char* setting) {
    // EINVAL: the file system cannot sync a folder.
    if (::fsync(descriptor.get()) != 0 && errno != EINVAL)
        throw_errno("fsync", path, errno, setting);
}

// Links in the folder's name are resolved; the file's own name is kept.
fs::path text_target(const fs::path& path, const char* setting) {
    std::error_code none;
    std::string kind = base::irregular_kind(path);
    if (kind.empty() && fs::is_symlink(fs::symlink_status(path, none))) kind = "a symbolic link";
    if (!kind.empty())
        throw base::OptionError(fmt::format("{} is {}; name a file", path.string(), kind),
                                {setting});
    fs::path target = resolve(path);
    if (hdf5::is_hdf5(target))  // a typo must not overwrite results
        throw base::OptionError(
            fmt::format("{} is an HDF5 file, which text output does not replace; name another file",
                        target.string()),
            {setting});
    check_not_write_protected(target, setting);
    return target;
}

fs::path temporary_beside(const fs::path& target) {
    std::random_device random;
    const std::string name =
        fmt::format("{}{:08x}{:08x}{}", prefix_of(target), random(), random(), kSuffix);
    return target.parent_path() / name;
}

}  // namespace

fs::path resolve(const fs::path& path) {
    if (path.filename().empty() || path.filename() == "." || path.filename() == "..")
        throw base::OptionError(
            fmt::format("'{}' names a folder; name a file, such as results/ranklab.h5",
                        path.string()),
            {"output"});
    std::error_code error;
    fs::path resolved = fs::weakly_canonical(fs::absolute(path, error), error);
    if (error) throw_errno("readlink", path, error.value());
    return resolved;
}

void check_not_write_protected(const fs::path& resolved, const char* setting) {
    if (::faccessat(AT_FDCWD, resolved.c_str(), W_OK, AT_EACCESS) != 0 && errno != ENOENT)
        throw_errno("access", resolved, errno, setting);
}

void check_free_space(const fs::path& resolved, std::uint64_t bytes) {
    struct statvfs status {};
    const fs::path folder = resolved.parent_path();
    if (::statvfs(folder.c_str(), &status) != 0) throw_errno("statvfs", folder, errno);
    if (status.f_bavail < bytes / status.f_frsize) throw_errno("statvfs", resolved, ENOSPC);
}

StagedFile::StagedFile(fs::path target, const char* setting)
    : target_(std::move(target)), path_(temporary_beside(target_)), setting_(setting) {
    descriptor_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!descriptor_) throw_errno("open", target_, errno, setting_);
    struct stat status {};
    if (::stat(target_.c_str(), &status) != 0) return;
    // The group comes first, since chown may clear mode bits. A group that the user is not in must
    // not prevent writing.
    static_cast<void>(::fchown(descriptor_.get(), static_cast<uid_t>(-1), status.st_gid) == 0);
    // 0600: the owner must be able to write the file.
    static_cast<void>(::fchmod(descriptor_.get(), (status.st_mode & 07777U) | 0600U) == 0);
}

StagedFile::~StagedFile() {
    if (!committed_) ::unlink(path_.c_str());
}

void StagedFile::copy_target() {
    std::error_code error;
    fs::copy_file(target_, path_, fs::copy_options::overwrite_existing, error);
    if (error) {
        // On a full tmpfs copy_file() reports an input/output error: check the space itself.
        std::error_code unknown;
        if (const auto bytes = fs::file_size(target_, unknown); !unknown)
            check_free_space(target_, bytes);
        throw_errno("copy", target_, error.value());
    }
}

void StagedFile::write(std::span<const std::byte> bytes) {
    if (!base::write_whole(descriptor_.get(), bytes))
        throw_errno("write", target_, errno, setting_);
}

void StagedFile::reserve(std::uint64_t bytes) {
    std::error_code unknown;
    const auto size = static_cast<off_t>(fs::file_size(path_, unknown));
    const int error = ::posix_fallocate(descriptor_.get(), size, static_cast<off_t>(bytes));
    if (error != 0 && error != EINVAL && error != EOPNOTSUPP)
        throw_errno("posix_fallocate", target_, error, setting_);
}

void StagedFile::commit() {
    sync(descriptor_, target_, setting_);
    if (::rename(path_.c_str(), target_.c_str()) != 0)
        throw_errno("rename", target_, errno, setting_);
    committed_ = true;
    const fs::path folder_path = fs::absolute(target_).parent_path();
    const Descriptor folder(::open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) throw_errno("open", folder_path, errno, setting_);
    sync(folder, folder_path, setting_);
}

TextFile::TextFile(const fs::path& path, const char* setting)
    : StagedFile(text_target(path, setting), setting) {}

void write_text(const fs::path& path, std::string_view text, const char* setting) {
    TextFile file(path, setting);
    file.write(text);
    file.commit();
}

void remove_leftovers(const fs::path& target) {
    const std::string prefix = prefix_of(target);
    std::error_code error;
    for (fs::directory_iterator entry(target.parent_path(), error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code ignored;
        if (is_temporary_of(entry->path().filename().string(), prefix))
            fs::remove(entry->path(), ignored);
    }
}

}  // namespace ranklab::results
