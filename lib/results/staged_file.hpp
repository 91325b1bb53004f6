// A file that takes the place of another in one step, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "results/places.hpp"

namespace ranklab::results {

/// A temporary `.NAME.<16 hex digits>.tmp` beside NAME, removed with the object unless committed.
class StagedFile {
  public:
    /// Makes an empty temporary that will replace `target` (links resolved). Errors name the target, and
    /// advise another value of `setting`.
    explicit StagedFile(std::filesystem::path target, const char* setting = "output");
    ~StagedFile();

    const std::filesystem::path& path() const { return path_; }

    /// Fills the temporary with what the target holds; it will get the target's permissions.
    void copy_target();
    /// The permissions alone.
    void copy_permissions();
    /// Appends to the temporary.
    void write(std::span<const std::byte> bytes);
    /// Makes sure that `bytes` can be written behind what is there.
    void reserve(std::uint64_t bytes);
    /// What was written is on the disk when this returns, and commit has little left to do.
    void flush();
    /// What was written is on the disk and bears the target's name when this returns.
    void commit();

  private:
    Descriptor open_target() const;
    void take_permissions(const Descriptor& from) const;

    std::filesystem::path target_;
    std::filesystem::path path_;
    const char* setting_;  // a literal of the caller
    Descriptor descriptor_;
    bool committed_ = false;
};

/// A fresh name of that pattern.
std::filesystem::path temporary_beside(const std::filesystem::path& target);

/// Removes temporaries that killed writers left. Only for the holder of the lock, or a folder's one writer.
void remove_leftovers(const std::filesystem::path& target);

}  // namespace ranklab::results
