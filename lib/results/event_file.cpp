#include "results/event_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <boost/crc.hpp>
#include <cerrno>
#include <chrono>
#include <fstream>

#include "base/error.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

// Wire types of protobuf: a tag (field << 3 | type) precedes each value.
enum class Wire { varint, fixed64, bytes, fixed32 = 5 };

void put_varint(std::string& to, std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) to += static_cast<char>(value | 0x80U);
    to += static_cast<char>(value);
}

template <class Number>
void put_little(std::string& to, Number number) {
    for (std::size_t byte = 0; byte < sizeof number; ++byte)
        to += static_cast<char>(number >> 8U * byte & 0xffU);
}

void put_tag(std::string& to, unsigned field, Wire wire) {
    put_varint(to, field << 3U | static_cast<unsigned>(wire));
}
void put(std::string& to, unsigned field, std::int64_t value) {
    put_tag(to, field, Wire::varint);
    put_varint(to, static_cast<std::uint64_t>(value));
}
void put(std::string& to, unsigned field, double value) {
    put_tag(to, field, Wire::fixed64);
    put_little(to, std::bit_cast<std::uint64_t>(value));
}
void put(std::string& to, unsigned field, float value) {
    put_tag(to, field, Wire::fixed32);
    put_little(to, std::bit_cast<std::uint32_t>(value));
}
void put(std::string& to, unsigned field, std::string_view value) {
    put_tag(to, field, Wire::bytes);
    put_varint(to, value.size());
    to += value;
}

std::string event_at(std::int64_t step) {
    std::string event;
    put(event, 2, step);
    return event;
}

fs::path event_file_in(const fs::path& folder) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(folder, missing))
        if (entry.path().filename().string().starts_with("events.out.tfevents."))
            return entry.path();
    return {};
}

// Bytes up to the end of the last whole record: length (8), checksum (4), event, checksum (4).
std::uintmax_t whole_bytes(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::uintmax_t size = fs::file_size(path);
    std::uintmax_t end = 0;
    std::uint64_t length = 0;
    while (in.seekg(static_cast<std::streamoff>(end)) &&
           in.read(reinterpret_cast<char*>(&length), sizeof length) && length < size &&
           end + length + 16 <= size)
        end += length + 16;
    return end;
}

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
    boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return std::rotr(static_cast<std::uint32_t>(crc.checksum()), 15) + 0xa282ead8U;
}

EventFile::EventFile(const fs::path& folder, bool resume, const char* setting) {
    base::make_folders(folder, setting);
    if (::access(folder.c_str(), W_OK) != 0) base::throw_errno("write", folder, errno, setting);
    path_ = event_file_in(folder);
    std::error_code error;
    if (path_.empty())
        path_ = folder /
                fmt::format("events.out.tfevents.{:.0f}.ranklab.{}", seconds_now(), ::getpid());
    else if (!resume)
        throw base::OptionError(
            fmt::format("{} holds the curves of another run; name another folder", folder.string()),
            {setting, "resume"});
    else
        fs::resize_file(path_, whole_bytes(path_), error);
}

bool EventFile::start(std::int64_t step) {
    std::string log, event = event_at(step);
    put(log, 1, std::int64_t{1});  // SessionLog.START
    put(event, 7, log);
    return write_event(event);
}

bool EventFile::add(std::int64_t step, std::span<const Scalar> scalars) {
    std::string summary, event = event_at(step);
    for (const auto& scalar : scalars) {
        std::string value;
        put(value, 1, scalar.tag);
        put(value, 2, static_cast<float>(scalar.value));
        put(summary, 1, value);
    }
    put(event, 5, summary);
    return write_event(event);
}

bool EventFile::sync() const {
    return !file_ || ::fsync(file_.get()) == 0;
}

// Writes length, checksum, event and checksum by one call: a killed run truncates at most the last
// record, which readers ignore.
bool EventFile::write_event(std::string_view fields) {
    if (!file_) {
        const bool is_new = !fs::exists(path_);
        file_ = base::open_file(path_, O_WRONLY | O_CREAT | O_APPEND);
        std::string version;
        put(version, 3, std::string_view("brain.Event:2"));
        if (!file_ || (is_new && !write_event(version))) {
            if (is_new) ::unlink(path_.c_str());
            return false;
        }
    }
    std::string event, record;
    put(event, 1, seconds_now());
    event += fields;
    put_little(record, static_cast<std::uint64_t>(event.size()));
    put_little(record, masked_crc32c(record));
    record += event;
    put_little(record, masked_crc32c(event));
    return base::write_whole(file_.get(), record);
}

}  // namespace ranklab::results
