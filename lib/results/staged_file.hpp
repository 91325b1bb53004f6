// Replaces a file atomically by a temporary file that is renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/files.hpp"

namespace ranklab::results {

using base::Descriptor;
using base::throw_errno;

/// Returns the absolute path without symbolic links; a dangling link stays. Throws OptionError for
/// a path without a file name and for a loop of links.
std::filesystem::path resolve(const std::filesystem::path& path);

/// Throws if the system forbids writing an existing file.
void check_not_write_protected(const std::filesystem::path& resolved,
                               const char* setting = "output");

/// Throws EnvironmentError if the file system has fewer free bytes. Only StagedFile::reserve
/// notices a full quota.
void check_free_space(const std::filesystem::path& resolved, std::uint64_t bytes);

/// A temporary file `.NAME.<16 hex digits>.tmp` beside NAME. The destructor removes it unless
/// commit() was called.
class StagedFile {
  public:
    /// Makes an empty temporary file, with the permissions of an existing target, that commit()
    /// renames to `target` (links resolved). Errors name the target and the option `setting`.
    explicit StagedFile(std::filesystem::path target, const char* setting = "output");
    ~StagedFile();

    const std::filesystem::path& target() const { return target_; }
    const std::filesystem::path& path() const { return path_; }
    const Descriptor& descriptor() const { return descriptor_; }

    /// Copies the target's contents.
    void copy_target();
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

/// The one writer of text files. commit() replaces `path`; without commit() nothing is changed.
struct TextFile : StagedFile {
    /// Throws OptionError if `path` is a folder, a device, a symbolic link or an HDF5 file, which a
    /// mistyped name must not destroy; EnvironmentError if it cannot be written.
    TextFile(const std::filesystem::path& path, const char* setting);
    void write(std::string_view text) { StagedFile::write(std::as_bytes(std::span(text))); }
};
/// Writes `text` to the file `path`, as TextFile does.
void write_text(const std::filesystem::path& path, std::string_view text, const char* setting);

/// Removes temporary files that killed writers of `target` left. The caller must be the only
/// writer.
void remove_leftovers(const std::filesystem::path& target);

}  // namespace ranklab::results
