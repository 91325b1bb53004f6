#include "io/record_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "base/element.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/handle.hpp"

// Formatting takes nearly all the time of a text strategy: std::to_chars (Ryu printf) 60 ns per
// value, glibc's printf 170 ns. Most values are multiples of 2^-64: one exact 128-bit
// multiplication gives 19 digits.

namespace ranklab::io {

namespace {

namespace fs = std::filesystem;
using base::IoPhase;

constexpr const char* kSetting = "directory";
__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kTenTo18 = 1000000000000000000U;

struct DigitPairs {
    char text[200];
    constexpr DigitPairs() : text() {
        for (int i = 0; i < 100; ++i) {
            text[2 * i] = static_cast<char>('0' + i / 10);
            text[2 * i + 1] = static_cast<char>('0' + i % 10);
        }
    }
};
constexpr DigitPairs kPairs;

// Returns value * 2^64 if it is an integer below 2^64, otherwise 0. Requires value > 0.
std::uint64_t as_fraction_of_2_to_64(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int exponent = static_cast<int>(bits >> 52U) - 1023;  // of the leading bit
    if (exponent > -1 || exponent < -64) return 0;
    const std::uint64_t mantissa =
        (bits & ((std::uint64_t{1} << 52U) - 1)) | (std::uint64_t{1} << 52U);
    const int shift = exponent + 64 - 52;  // -52 .. 11
    if (shift >= 0) return mantissa << static_cast<unsigned>(shift);
    const auto down = static_cast<unsigned>(-shift);
    if ((mantissa & ((std::uint64_t{1} << down) - 1)) != 0) return 0;
    return mantissa >> down;
}

// Removes the file unless finish() was called: a failed write leaves no partial file.
class Unfinished : base::Immovable {
  public:
    explicit Unfinished(fs::path path) : path_(std::move(path)) {}
    ~Unfinished() {
        if (!finished_) ::unlink(path_.c_str());
    }
    void finish() { finished_ = true; }

  private:
    fs::path path_;
    bool finished_ = false;
};

// One writev() for both parts: after a separate write of the 128 B header the kernel copies the
// second part more slowly.
void write_all(int fd, std::span<const char> first, std::span<const char> second,
               const fs::path& path) {
    while (!first.empty() || !second.empty()) {
        // writev does not change its buffers, although its parameter is not const.
        const iovec parts[] = {{const_cast<char*>(first.data()), first.size()},
                               {const_cast<char*>(second.data()), second.size()}};
        const ssize_t written = ::writev(fd, parts, 2);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) base::throw_errno("write", path, errno, kSetting);
        const std::size_t done = written;
        const std::size_t of_first = std::min(done, first.size());
        first = first.subspan(of_first);
        second = second.subspan(done - of_first);
    }
}

[[noreturn]] void damaged(const fs::path& path, const std::string& what) {
    throw base::DataError(
        fmt::format("{} {}; write it again with ranklab io", path.string(), what));
}

void read_all(int fd, std::span<std::byte> bytes, const fs::path& path) {
    const auto got = base::read_whole(fd, bytes);
    if (!got) base::throw_read_errno("read", path, errno, kSetting);
    if (*got < bytes.size()) damaged(path, "ends while it is read");
}

std::string header_of(std::int64_t size) {
    return base::npy_header("<f8", {size, size});
}

// Each value must end with a blank, the last value of a row with a line feed.
void parse_text(const Bytes& text, std::size_t size, std::span<double> values,
                const fs::path& path) {
    const char* at = text.data();
    const char* end = at + text.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto [next, error] = std::from_chars(at, end, values[i]);
        const char after = (i + 1) % size == 0 ? '\n' : ' ';
        if (error != std::errc() || next == end || *next != after)
            damaged(path, fmt::format("has no number in the format '%.18e' at row {}, column {}",
                                      i / size, i % size));
        at = next + 1;
    }
    if (at != end) damaged(path, fmt::format("has {} bytes after its last row", end - at));
}

}  // namespace

char* write_value(double value, char* to) {
    const std::uint64_t fraction = value > 0 && value < 1 ? as_fraction_of_2_to_64(value) : 0;
    if (fraction == 0)
        return std::to_chars(to, to + kLongestValue, value, std::chars_format::scientific, 18).ptr;
    // For one e in 1 .. 20, fraction * 10^(18 + e) / 2^64 has 19 digits before the point. The
    // product stays below 2^64 * 10^19 < 2^128.
    Wide scaled = Wide{fraction} * (kTenTo18 * 10U);
    int e = 1;
    while (static_cast<std::uint64_t>(scaled >> 64U) < kTenTo18) {
        scaled *= 10U;
        ++e;
    }
    auto digits = static_cast<std::uint64_t>(scaled >> 64U);
    const auto rest = static_cast<std::uint64_t>(scaled);
    constexpr std::uint64_t kHalf = std::uint64_t{1} << 63U;
    // Rounds to nearest, ties to even, as glibc.
    if (rest > kHalf || (rest == kHalf && digits % 2 == 1)) ++digits;
    if (digits == kTenTo18 * 10U) {
        digits = kTenTo18;
        --e;
    }
    to[0] = static_cast<char>('0' + digits / kTenTo18);
    to[1] = '.';
    digits %= kTenTo18;
    for (int at = 18; at > 0; at -= 2) {  // pairs of digits: a fifth faster than std::to_chars
        std::memcpy(to + at, kPairs.text + 2 * (digits % 100), 2);
        digits /= 100;
    }
    to[20] = 'e';
    to[21] = e == 0 ? '+' : '-';
    std::memcpy(to + 22, kPairs.text + 2 * e, 2);
    return to + 24;
}

const char* extension_of(Encoding encoding) {
    return encoding == Encoding::text ? ".txt" : ".npy";
}

fs::path record_path(const Job& job, Encoding encoding, std::int64_t id) {
    return job.folder() / (record_name(id) + extension_of(encoding));
}

RecordWriter::RecordWriter(const Job& job, Encoding encoding, base::IoTimes& times)
    : job_(job), encoding_(encoding), times_(times) {
    if (encoding == Encoding::npy) {
        const std::string header = header_of(job.size);
        buffer_.assign(header.begin(), header.end());
    } else {
        buffer_.resize(static_cast<std::size_t>(job.values_per_record()) * (kLongestValue + 1));
    }
}

// Returns the file's bytes before the raw values: a whole text file, or the npy header.
std::span<const char> RecordWriter::formatted(std::span<const double> values) {
    if (encoding_ == Encoding::npy) return buffer_;
    const auto mark = times_.phase(IoPhase::format);
    char* at = buffer_.data();
    const std::size_t size = job_.size;
    for (std::size_t row = 0; row < values.size(); row += size) {
        for (std::size_t column = 0; column < size; ++column) {
            at = write_value(values[row + column], at);
            *at++ = ' ';
        }
        at[-1] = '\n';
    }
    return {buffer_.data(), at};
}

void write_new(const fs::path& path, std::span<const char> first, std::span<const char> second,
               bool fsync, base::IoTimes& times) {
    base::Descriptor file;
    {
        const auto mark = times.phase(IoPhase::open);
        file =
            base::Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        if (!file) base::throw_errno("open", path, errno, kSetting);
    }
    Unfinished unfinished(path);
    if (!first.empty() || !second.empty()) {
        const auto mark = times.phase(IoPhase::write);
        write_all(file.get(), first, second, path);
    }
    if (fsync) {
        const auto mark = times.phase(IoPhase::fsync);
        if (::fsync(file.get()) != 0) base::throw_errno("fsync", path, errno, kSetting);
    }
    const auto mark = times.phase(IoPhase::close);
    // Network file systems report a full disk here.
    if (::close(file.release()) != 0) base::throw_errno("close", path, errno, kSetting);
    unfinished.finish();
}

std::size_t RecordWriter::write(std::int64_t id, std::span<const double> values) {
    const auto first = formatted(values);
    const std::span raw(reinterpret_cast<const char*>(values.data()),
                        encoding_ == Encoding::npy ? values.size_bytes() : 0);
    write_new(record_path(job_, encoding_, id), first, raw, job_.fsync, times_);
    return first.size() + raw.size();
}

void RecordWriter::make(std::int64_t id, const std::function<void(std::span<double>)>& generate) {
    const auto begin = base::Clock::now();
    values_.resize(job_.values_per_record());
    {
        const auto mark = times_.phase(IoPhase::generate);
        generate(values_);
    }
    const auto bytes = write(id, values_);
    times_.add_record(begin, base::Clock::now(), base::real(bytes));
}

RecordReader::RecordReader(const Job& job, Encoding encoding, base::IoTimes& times)
    : job_(job),
      encoding_(encoding),
      times_(times),
      header_(encoding == Encoding::npy ? header_of(job.size) : "") {}

void RecordReader::read(std::int64_t id, std::span<double> values) {
    const fs::path path = record_path(job_, encoding_, id);
    base::Descriptor file;
    struct stat status {};
    {
        const auto mark = times_.phase(IoPhase::open);
        file = base::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        if (!file && errno == ENOENT) damaged(path, "is not there");
        if (!file || ::fstat(file.get(), &status) != 0)
            base::throw_read_errno("open", path, errno, kSetting);
    }
    const bool npy = encoding_ == Encoding::npy;
    const std::size_t there = status.st_size;
    const std::size_t wanted = npy ? header_.size() + values.size_bytes() : values.size() * 25;
    if (npy ? there != wanted : there > values.size() * (kLongestValue + 1))
        damaged(path, fmt::format("has {} bytes, not {}", there, wanted));
    {
        const auto mark = times_.phase(IoPhase::read);
        buffer_.resize(npy ? header_.size() : there);
        read_all(file.get(), std::as_writable_bytes(std::span(buffer_)), path);
        if (npy) read_all(file.get(), std::as_writable_bytes(values), path);
    }
    if (npy) {
        if (std::memcmp(buffer_.data(), header_.data(), header_.size()) != 0)
            damaged(path, fmt::format("has no npy header for {0} x {0} float64", job_.size));
    } else {
        const auto mark = times_.phase(IoPhase::parse);
        parse_text(buffer_, job_.size, values, path);
    }
    const auto mark = times_.phase(IoPhase::close);
    file.reset();
}

}  // namespace ranklab::io
