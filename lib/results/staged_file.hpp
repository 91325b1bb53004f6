// Replaces a file atomically by a temporary file that is renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/files.hpp"

namespace ranklab::results {

using base::Descriptor;
using base::throw_errno;

/// Returns the absolute path without symbolic links; a dangling link stays. Throws OptionError for
/// a path without a file name and for a loop of links.
std::filesystem::path resolve(const std::filesystem::path& path);

/// The path of a file to write for an option, links resolved. Throws OptionError if it names a
/// folder or device, or an HDF5 file: a mistyped name must not destroy results.
std::filesystem::path checked_target(const std::filesystem::path& path, const char* setting);

void make_parent_folders(const std::filesystem::path& resolved);

/// Throws if the system forbids writing the existing file.
void check_not_write_protected(const std::filesystem::path& resolved);

/// Throws EnvironmentError if the file system has fewer free bytes. Only StagedFile::reserve
/// notices a full quota.
void check_free_space(const std::filesystem::path& resolved, std::uint64_t bytes);

/// A temporary file `.NAME.<16 hex digits>.tmp` beside NAME. The destructor removes it unless
/// commit() was called.
class StagedFile {
  public:
    /// Makes an empty temporary file that commit() renames to `target` (links resolved). Errors
    /// name the target and the option `setting`.
    explicit StagedFile(std::filesystem::path target, const char* setting = "output");
    ~StagedFile();

    const std::filesystem::path& target() const { return target_; }
    const std::filesystem::path& path() const { return path_; }
    const Descriptor& descriptor() const { return descriptor_; }

    /// Copies the target's contents and permissions.
    void copy_target();
    void copy_permissions();
    /// Appends.
    void write(std::span<const std::byte> bytes);
    /// Allocates disk space for `bytes` more.
    void reserve(std::uint64_t bytes);
    /// Flushes the data to the disk, and renames the file to the target.
    void commit();

  private:
    std::filesystem::path target_;
    std::filesystem::path path_;
    const char* setting_;
    Descriptor descriptor_;
    bool committed_ = false;
};

/// Removes temporary files that killed writers of `target` left. The caller must be the only
/// writer.
void remove_leftovers(const std::filesystem::path& target);

}  // namespace ranklab::results
