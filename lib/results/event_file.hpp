// Curves for TensorBoard in TensorFlow's event format (tensorflow/core/util/event.proto). Encoded
// here, since a second protobuf library would clash with LibTorch's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/files.hpp"

namespace ranklab::results {

struct Scalar {
    std::string tag;
    double value = 0;
};

/// TFRecord's checksum: CRC-32C of the bytes, rotated right by 15 bits, plus 0xa282ead8.
std::uint32_t masked_crc32c(std::string_view bytes);

class EventFile {
  public:
    /// Makes the folder; the first event makes the file. `resume` continues the folder's file and
    /// drops a truncated last record. Throws OptionError (naming `setting`) if there is a file but
    /// no `resume`, EnvironmentError if the folder is not writable.
    EventFile(const std::filesystem::path& folder, bool resume, const char* setting);

    // Each call writes its event at once, and returns false if the write failed.
    /// Tells readers to drop what an earlier run wrote from this step on.
    bool start(std::int64_t step);
    bool add(std::int64_t step, std::span<const Scalar> scalars);

    /// Syncs the events to the disk, where a full quota may first show. Returns false on failure.
    bool sync() const;

  private:
    bool write_event(std::string_view fields);

    std::filesystem::path path_;
    base::Descriptor file_;  // opened by the first event
};

}  // namespace ranklab::results
