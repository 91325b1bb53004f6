// Curves for TensorBoard: records of TensorFlow's event format (tensorflow/core/util/event.proto,
// tensorboard/plugins/hparams/plugin_data.proto). Five messages of a few fields: LibTorch brings a
// protobuf of its own, and a second one in the process would clash with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"

namespace ranklab::results {

struct Scalar {
    std::string tag;
    double value = 0;
};

/// TFRecord's checksum: CRC-32C of the bytes, rotated and moved on by 0xa282ead8.
std::uint32_t masked_crc32c(std::string_view bytes);

class EventFile {
  public:
    /// Makes the folder; the file comes with the first event, or is the one that is there where
    /// `resume`, without a last record that was cut. OptionError, with advice on `setting`, where
    /// there is a file and no `resume`; EnvironmentError where the folder cannot be written.
    EventFile(const std::filesystem::path& folder, bool resume, const char* setting);

    /// The run goes on from that step: readers drop what an earlier run wrote beyond it. Each call
    /// is on the disk at once; false where that failed.
    bool start(std::int64_t step);
    bool add(std::int64_t step, std::span<const Scalar> scalars);
    bool add_settings(std::span<const std::pair<std::string, std::string>> settings);

  private:
    bool write_event(std::string_view fields);

    std::filesystem::path path_;
    base::Descriptor file_;  // once there is an event
};

}  // namespace ranklab::results
