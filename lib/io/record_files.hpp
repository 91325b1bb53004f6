// A file per record: the common part of all such strategies.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/io_times.hpp"
#include "io/job.hpp"
#include "io/kernel.hpp"

namespace ranklab::io {

/// The longest text of a finite float64 in this form ("-1.797693134862315708e+308").
inline constexpr std::size_t kLongestValue = 26;

/// Writes `value`, which is finite, as C's printf("%.18e") does, and returns the end. `to` has room
/// for kLongestValue characters.
char* write_value(double value, char* to);

/// text: numpy.savetxt's bytes ("%.18e", a blank between values, a line a row). npy: numpy.save's.
enum class Encoding { text, npy };

const char* extension_of(Encoding encoding);
/// DIRECTORY/data00042.npy
std::filesystem::path record_path(const Job& job, Encoding encoding, std::int64_t id);

struct Finish {
    bool fsync = false;
    bool rename = false;  ///< a temporary name (temporary_of) until it is whole
};
/// Makes a file of `first` and the following bytes, by one write() where the system takes them at
/// once. Marks open, write, fsync, close. EnvironmentError where it cannot be written; then the
/// partial file is removed.
void write_new(const std::filesystem::path& path, std::span<const char> first,
               std::span<const char> second, Finish finish, base::IoTimes& times);

/// Writes records, each in a file of its own.
class RecordWriter {
  public:
    RecordWriter(const Job& job, Encoding encoding, base::IoTimes& times);
    /// Writes size x size values. Marks format, and the phases of write_new.
    void write(std::int64_t id, std::span<const double> values);
    std::int64_t bytes_of_last() const { return bytes_; }

  private:
    void format(std::span<const double> values);

    const Job& job_;
    Encoding encoding_;
    base::IoTimes& times_;
    Bytes buffer_;  // text: the whole file; npy: the header
    std::int64_t bytes_ = 0;
};

/// Reads them back. Marks open, read, parse, close. Its DataErrors name the file.
class RecordReader final : public Reader {
  public:
    RecordReader(const Job& job, Encoding encoding, base::IoTimes& times);
    void read(std::int64_t id, std::span<double> values) override;

  private:
    const Job& job_;
    Encoding encoding_;
    base::IoTimes& times_;
    std::string header_;  // npy: what every file begins with; text: nothing
    Bytes buffer_;
};

}  // namespace ranklab::io
