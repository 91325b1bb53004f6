// Text and npy files with one record each.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "base/io_times.hpp"
#include "io/job.hpp"
#include "io/kernel.hpp"

namespace ranklab::io {

/// Length of the longest "%.18e" of a finite float64, "-1.797693134862315708e+308".
inline constexpr std::size_t kLongestValue = 26;

/// Writes a finite `value` as printf("%.18e") and returns the end. `to` has room for kLongestValue
/// characters.
char* write_value(double value, char* to);

/// text: bytes of numpy.savetxt ("%.18e", blanks between values, one line per row). npy: bytes of
/// numpy.save.
enum class Encoding { text, npy };

const char* extension_of(Encoding encoding);
/// DIRECTORY/data00042.npy
std::filesystem::path record_path(const Job& job, Encoding encoding, std::int64_t id);

/// Writes `first`, then `second` to a new file, by one system call if it takes all bytes. Times the
/// phases open, write, fsync and close. Throws EnvironmentError on failure, and removes the partial
/// file.
void write_new(const std::filesystem::path& path, std::span<const char> first,
               std::span<const char> second, bool fsync, base::IoTimes& times);

/// Writes each record to a file of its own.
class RecordWriter {
  public:
    RecordWriter(const Job& job, Encoding encoding, base::IoTimes& times);
    /// Writes size x size values and returns the file's size in bytes. Times the phase format and
    /// the phases of write_new().
    std::size_t write(std::int64_t id, std::span<const double> values);
    /// Writes the values that `generate` fills in. Also times the phase generate, and adds the
    /// record to the times.
    void make(std::int64_t id, const std::function<void(std::span<double> values)>& generate);

  private:
    std::span<const char> formatted(std::span<const double> values);

    const Job& job_;
    Encoding encoding_;
    base::IoTimes& times_;
    Bytes buffer_;  // text: the whole file; npy: the header
    Values values_;
};

/// Times the phases open, read, parse and close. Errors name the file.
class RecordReader final : public Reader {
  public:
    RecordReader(const Job& job, Encoding encoding, base::IoTimes& times);
    void read(std::int64_t id, std::span<double> values) override;

  private:
    const Job& job_;
    Encoding encoding_;
    base::IoTimes& times_;
    std::string header_;  // npy: the same for every file; text: empty
    Bytes buffer_;
};

}  // namespace ranklab::io
