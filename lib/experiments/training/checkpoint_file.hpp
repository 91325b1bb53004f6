// A checkpoint as plain data, and its file (docs/checkpoint.md). No LibTorch and no ranks in here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hdf5/array.hpp"

namespace ranklab::experiments {

struct NamedArray {
    std::string name;
    hdf5::TypedArray values;
};

struct ArraySet {
    std::string name;
    std::vector<NamedArray> arrays;
};

/// Values of options ("--lr") and facts ("ranks") by name.
using CheckpointSettings = std::map<std::string, std::string>;

struct Checkpoint {
    std::int64_t completed_steps = 0;
    CheckpointSettings settings;  ///< must be equal in the run that resumes it
    std::vector<NamedArray> parameters;
    std::vector<NamedArray> buffers;
    std::vector<ArraySet> optimizer;  ///< one set per kind of state, by the parameters' names
    std::vector<ArraySet> ranks;      ///< one set per rank: its random generators, as bytes
};

/// Throws OptionError with each difference and both of its values, if there is one.
void check_same_settings(const CheckpointSettings& now, const CheckpointSettings& stored);

/// Returns the file's bytes: a header with a checksum, HDF5 for other programs, and the index that
/// decode() reads.
std::vector<std::byte> encode(const Checkpoint& checkpoint);

/// Throws DataError unless the bytes are a complete, undamaged checkpoint of this schema.
Checkpoint decode(std::span<const std::byte> bytes);

/// FOLDER/checkpoint.h5. Has one writer at a time; a new file is written under another name, synced
/// and renamed. Errors name --checkpoint.
class CheckpointFile {
  public:
    static constexpr const char* kPrevious = "checkpoint.previous.h5";

    explicit CheckpointFile(const std::filesystem::path& folder);

    const std::filesystem::path& path() const { return path_; }

    /// Called before the work: makes the folder and removes the temporary files of killed writers.
    /// Throws EnvironmentError if a file of `expected_bytes` could not be written now.
    void prepare(std::uint64_t expected_bytes) const;

    /// Returns the file's bytes, or nothing if there is no file yet.
    std::optional<std::vector<std::byte>> read() const;

    /// Makes the next write() keep an existing file as checkpoint.previous.h5. Returns false if
    /// there is no file.
    bool set_aside_first();

    /// Returns once the file is on the disk. If it throws, the last file is still there.
    void write(std::span<const std::byte> bytes);

  private:
    std::filesystem::path path_;
    bool sets_aside_ = false;
};

}  // namespace ranklab::experiments
