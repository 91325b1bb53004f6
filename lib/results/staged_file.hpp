// A file that takes the place of another in one step, or not at all, and where such a file may lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/files.hpp"

namespace ranklab::results {

using base::Descriptor;
using base::throw_errno;

/// The absolute path that symbolic links lead to; a link to nothing stays. OptionError for a path
/// without a file name and for links in a circle.
std::filesystem::path resolve(const std::filesystem::path& path);

void make_parent_folders(const std::filesystem::path& resolved);

/// The system's word on whether we may write the existing file.
void check_not_write_protected(const std::filesystem::path& resolved);

/// Throws EnvironmentError where the file system has fewer free bytes. (A full quota shows only
/// when room is reserved.)
void check_free_space(const std::filesystem::path& resolved, std::uint64_t bytes);

/// A temporary `.NAME.<16 hex digits>.tmp` next to NAME, removed with the object unless committed.
class StagedFile {
  public:
    /// Makes an empty temporary that will replace `target` (links resolved). Errors name the
    /// target, and advise another value of `setting`.
    explicit StagedFile(std::filesystem::path target, const char* setting = "output");
    ~StagedFile();

    const std::filesystem::path& path() const { return path_; }
    const Descriptor& descriptor() const { return descriptor_; }

    /// Fills the temporary with what the target holds; it will get the target's permissions.
    void copy_target();
    /// The permissions alone.
    void copy_permissions();
    /// Appends to the temporary.
    void write(std::span<const std::byte> bytes);
    /// Makes sure that `bytes` can be written behind what is there.
    void reserve(std::uint64_t bytes);
    /// When this returns, the data is on the disk under the target's name.
    void commit();

  private:
    std::filesystem::path target_;
    std::filesystem::path path_;
    const char* setting_;  // a literal of the caller
    Descriptor descriptor_;
    bool committed_ = false;
};

/// Removes temporaries that killed writers left. Only for the lock's holder, or a folder's only
/// writer.
void remove_leftovers(const std::filesystem::path& target);

}  // namespace ranklab::results
