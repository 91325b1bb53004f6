// Reading and writing all bytes, however many system calls it takes: one may move fewer, or be interrupted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ranklab::base {

/// From where the file stands, or at a place of it. False where the system refuses: errno says why.
bool write_bytes(int file, std::span<const std::byte> bytes);
bool write_bytes_at(int file, std::span<const std::byte> bytes, std::uint64_t at);
/// How many came: fewer than there is room for at the file's end. Nullopt where the system refuses: errno
/// says why.
std::optional<std::size_t> read_bytes(int file, std::span<std::byte> bytes);
std::optional<std::size_t> read_bytes_at(int file, std::span<std::byte> bytes, std::uint64_t at);

/// The same of what lies one value after the other in memory: a text, a vector, a span.
template <class Values>
bool write_whole(int file, const Values& values) {
    return write_bytes(file, std::as_bytes(std::span(values)));
}
template <class Values>
bool write_whole_at(int file, const Values& values, std::uint64_t at) {
    return write_bytes_at(file, std::as_bytes(std::span(values)), at);
}
template <class Values>
std::optional<std::size_t> read_whole(int file, Values&& values) {
    return read_bytes(file, std::as_writable_bytes(std::span(values)));
}
template <class Values>
std::optional<std::size_t> read_whole_at(int file, Values&& values, std::uint64_t at) {
    return read_bytes_at(file, std::as_writable_bytes(std::span(values)), at);
}

}  // namespace ranklab::base
