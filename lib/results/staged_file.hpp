// Private to this room: a file that takes the place of another in one step, or not at all.
#pragma once

#include <cstdint>
#include <filesystem>

#include "results/places.hpp"

namespace ranklab::results {

/// A temporary `.NAME.<16 hex digits>.tmp` beside NAME, removed with the object unless committed.
class StagedFile {
  public:
    /// Makes an empty temporary that will replace `target` (links resolved).
    explicit StagedFile(std::filesystem::path target);
    ~StagedFile();
    StagedFile(const StagedFile&) = delete;
    StagedFile& operator=(const StagedFile&) = delete;
    StagedFile(StagedFile&&) = delete;
    StagedFile& operator=(StagedFile&&) = delete;

    const std::filesystem::path& path() const { return path_; }

    /// Fills the temporary with what the target holds; it will get the target's permissions.
    void copy_target();
    /// Makes sure that `bytes` can be written behind what is there.
    void reserve(std::uint64_t bytes);
    /// What was written is on the disk and bears the target's name when this returns.
    void commit();

  private:
    std::filesystem::path target_;
    std::filesystem::path path_;
    Descriptor descriptor_;
    bool committed_ = false;
};

/// Removes temporaries that killed writers left. Only for the holder of the lock.
void remove_leftovers(const std::filesystem::path& target);

}  // namespace ranklab::results
