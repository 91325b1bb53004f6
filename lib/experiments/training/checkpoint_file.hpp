// The file of a checkpoint: an HDF5 file and its checksum (docs/checkpoint.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "hdf5/file.hpp"

namespace ranklab::experiments {

/// FOLDER/checkpoint.h5. Has one writer at a time; a new file is written under another name, synced
/// and renamed. Errors name --checkpoint.
class CheckpointFile {
  public:
    static constexpr const char* kPrevious = "checkpoint.previous.h5";
    /// An attribute of the root group, and its value.
    static constexpr const char* kSchemaName = "ranklab_checkpoint_schema";
    static constexpr std::int64_t kSchema = 4;

    explicit CheckpointFile(const std::filesystem::path& folder);

    const std::filesystem::path& path() const { return path_; }

    /// Called before the work: makes the folder and removes the temporary files of killed writers.
    /// Throws EnvironmentError if a file of `expected_bytes` could not be written now.
    void prepare(std::uint64_t expected_bytes) const;

    /// Returns nothing if there is no file yet. Throws DataError unless the file is complete,
    /// undamaged and of this schema.
    std::optional<hdf5::File> open() const;

    /// Makes the next write() keep an existing file as checkpoint.previous.h5. Returns false if
    /// there is no file. Throws OptionError if one of the two is there and no whole checkpoint.
    bool set_aside_first();

    /// Writes an HDF5 file and its checksum. Returns the bytes of both once they are on the disk.
    /// If it throws, the last file is still there.
    std::uint64_t write(std::span<const std::byte> image);

  private:
    std::filesystem::path path_;
    bool sets_aside_ = false;
};

}  // namespace ranklab::experiments
