// A checkpoint as plain data, and the file that holds it (docs/checkpoint.md). No torch and no
// ranks in here.
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
    CheckpointSettings settings;  ///< equal in the run that goes on
    std::vector<NamedArray> parameters;
    std::vector<NamedArray> buffers;
    std::vector<ArraySet> optimizer;  ///< one set per kind of state, by the parameters' names
    std::vector<ArraySet> ranks;      ///< one set per rank: its random generators, as bytes
};

/// OptionError that names each difference with both values, unless there is none.
void check_same_settings(const CheckpointSettings& now, const CheckpointSettings& stored);

/// The file's bytes: a header with a checksum, then HDF5 for others to read, then the index that we
/// read.
std::vector<std::byte> encode(const Checkpoint& checkpoint);

/// DataError unless the bytes are a whole, undamaged checkpoint of this schema.
Checkpoint decode(std::span<const std::byte> bytes);

/// FOLDER/checkpoint.h5 has one writer at a time: each new one is written under another name,
/// brought to the disk and renamed. Errors name --checkpoint.
class CheckpointFile {
  public:
    static constexpr const char* kPrevious = "checkpoint.previous.h5";

    explicit CheckpointFile(const std::filesystem::path& folder);

    const std::filesystem::path& path() const { return path_; }

    /// To be called before the work: makes the folder, and removes files that killed writers left.
    /// EnvironmentError where a file of `expected_bytes` could not be written there now.
    void prepare(std::uint64_t expected_bytes) const;

    /// The file's bytes, or nothing where there is no file yet.
    std::optional<std::vector<std::byte>> read() const;

    /// Makes the next write keep an existing file as checkpoint.previous.h5. False where there is
    /// none.
    bool set_aside_first();

    /// On the disk when this returns; if it throws before, the last one is still there.
    void write(std::span<const std::byte> bytes);

  private:
    std::filesystem::path path_;
    bool sets_aside_ = false;
};

}  // namespace ranklab::experiments
